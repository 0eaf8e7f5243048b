import CLinux
import Glibc

/// Memory that the allocator keeps.
package enum AllocatorArenas {
    /// Has threads share so many of the allocator's arenas, and none keep more than 128 KiB that are free at its end. Else each of
    /// Dispatch's threads, which take turns at the same work, keeps an arena as large as that work has ever needed. Nothing that is done
    /// for each message allocates, so the loops hardly meet there.
    ///
    /// Arenas that are there stay: early in the process's life.
    package static func limit(to count: Int) {
        // Fail for values only that make no sense, and then all is as it was.
        _ = mallopt(M_ARENA_MAX, Int32(clamping: count))
        // Its default, until a larger piece of memory is free for the first time: from then on twice as much as that would be kept.
        _ = mallopt(M_TRIM_THRESHOLD, 131_072)
    }

    /// Gives back the pages that nothing lies in any more: for after a rush, whose memory the arenas keep else. They are taken again at the
    /// price of a page fault each, and whoever allocates meanwhile waits for some part of a millisecond. Any thread.
    package static func releaseFreePages() {
        _ = malloc_trim(0)
    }
}

/// Memory of what only the start of a process needed: relocations, the runtime's tables, code that ran once. It is more than half of
/// what the daemon has resident when it is at rest.
package enum StartPages {
    /// Gives back the pages of the program and its libraries that are as in their files. What is used again comes back at its next use,
    /// as a rule from the system's cache; the rest the system can forget first.
    ///
    /// Takes a millisecond or two, once. No library comes or goes meanwhile: the dynamic linker's lock is held.
    ///
    /// - Returns: The bytes that it was about, resident or not.
    @discardableResult
    package static func release() -> Int {
        let pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)
        guard pagemap >= 0 else { return 0 }
        defer { close(pagemap) }
        let entries = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 512)
        defer { entries.deallocate() }
        var work = Work(pagemap: pagemap, pageSize: UInt(max(1, sysconf(Int32(_SC_PAGESIZE)))), entries: entries)
        _ = dl_iterate_phdr(
            { object, _, work in
                guard let object, let work else { return 0 }
                StartPages.releaseSegments(
                    of: object.load(as: loaded_object.self), &work.assumingMemoryBound(to: Work.self).pointee
                )
                return 0
            }, &work)
        return work.released
    }

    private struct Work {
        let pagemap: Int32
        let pageSize: UInt
        /// What the kernel says of some pages. Made before the linker's lock is taken.
        let entries: UnsafeMutableBufferPointer<UInt64>
        var released = 0
    }

    private static func releaseSegments(of object: loaded_object, _ work: inout Work) {
        // The kernel's own object is no file's.
        guard let name = object.name, strstr(name, "linux-vdso") == nil else { return }
        for index in 0..<Int(object.header_count) {
            let header = object.headers[index]
            guard header.p_type == PT_LOAD, header.p_flags & UInt32(PF_W) == 0 else { continue }
            let first = (object.base + UInt(header.p_vaddr)) / work.pageSize
            // Of the file's part the last page is mapped whole.
            let end = (object.base + UInt(header.p_vaddr + header.p_filesz) + work.pageSize - 1) / work.pageSize
            var page = first
            while page < end {
                let count = min(end - page, UInt(work.entries.count))
                releasePages(page, count, &work)
                page += count
            }
        }
    }

    /// All of them, or none if one of them was changed.
    private static func releasePages(_ first: UInt, _ count: UInt, _ work: inout Work) {
        let bytes = Int(count) * MemoryLayout<UInt64>.stride
        guard pread(work.pagemap, work.entries.baseAddress, bytes, off_t(first) * 8) == bytes else { return }
        for index in 0..<Int(count) where !isAsInFile(work.entries[index]) { return }
        let length = Int(count * work.pageSize)
        guard madvise(UnsafeMutableRawPointer(bitPattern: first * work.pageSize), length, MADV_DONTNEED) == 0 else {
            return
        }
        work.released += length
    }

    /// Whether nobody changed the page: relocations of code do, and a debugger's breakpoints, which exist nowhere else.
    ///
    /// - Parameter entry: proc(5), `/proc/[pid]/pagemap`: bit 63 of a page that is in memory, 62 of one that is swapped out, 61 of a
    ///   file's.
    static func isAsInFile(_ entry: UInt64) -> Bool {
        let isPresent = entry >> 63 & 1 == 1
        let isSwapped = entry >> 62 & 1 == 1
        let isFiles = entry >> 61 & 1 == 1
        return !isSwapped && (!isPresent || isFiles)
    }
}
