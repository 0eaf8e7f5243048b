import CLinux
import Glibc

/// The memory that the C library's allocator keeps.
package enum AllocatorArenas {
    /// Limits the number of the allocator's arenas to `count`, and the free memory that each keeps to 128 KiB. Without
    /// the limits, each Dispatch thread would keep an arena as large as its largest work. Sharing arenas is no problem,
    /// because messages need no allocations: two loops rarely use an arena at the same time.
    ///
    /// Call this early, because existing arenas stay.
    package static func limit(to count: Int) {
        // The call fails only for invalid values. A failed call changes nothing.
        _ = mallopt(M_ARENA_MAX, Int32(clamping: count))
        // This value is glibc's default. Setting it prevents glibc from raising the threshold after it frees the first
        // large block.
        _ = mallopt(M_TRIM_THRESHOLD, 131_072)
    }

    /// Returns unused pages to the system after a burst, because the arenas would keep them. Each page that is used
    /// again costs a page fault. Allocations wait for a part of a millisecond during the call. Any thread may call it.
    package static func releaseFreePages() {
        _ = malloc_trim(0)
    }
}

/// Memory that was needed only at the start of the process, such as relocations, tables of the runtime, and code that
/// ran once. It is more than half of the resident memory of an idle daemon.
package enum StartPages {
    /// Releases the pages of the program and its libraries that are the same as in their files. If such a page is used
    /// again, the kernel loads it again, usually from the page cache.
    ///
    /// The call takes one or two milliseconds. During this time it holds the dynamic linker's lock, so no library can
    /// be loaded.
    ///
    /// - Returns: The number of bytes in these pages, including pages that weren't in memory.
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
        /// The kernel's information about some pages. The memory is allocated before the linker's lock is taken.
        let entries: UnsafeMutableBufferPointer<UInt64>
        var released = 0
    }

    private static func releaseSegments(of object: loaded_object, _ work: inout Work) {
        // The kernel's own object isn't a file, so it is skipped.
        guard let name = object.name, strstr(name, "linux-vdso") == nil else { return }
        for index in 0..<Int(object.header_count) {
            let header = object.headers[index]
            guard header.p_type == PT_LOAD, header.p_flags & UInt32(PF_W) == 0 else { continue }
            let first = (object.base + UInt(header.p_vaddr)) / work.pageSize
            // The last page is mapped completely, even if the file ends within it.
            let end = (object.base + UInt(header.p_vaddr + header.p_filesz) + work.pageSize - 1) / work.pageSize
            var page = first
            while page < end {
                let count = min(end - page, UInt(work.entries.count))
                releasePages(page, count, &work)
                page += count
            }
        }
    }

    /// Releases all these pages. If one of them has changed, releases none.
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

    /// Whether a page is the same as in its file. Relocations and a debugger's breakpoints change pages.
    ///
    /// - Parameter entry: An entry of `/proc/[pid]/pagemap` (proc(5)): bit 63 is set for a page in memory, 62 for a
    ///   swapped page, 61 for a page of a file.
    static func isAsInFile(_ entry: UInt64) -> Bool {
        let isPresent = entry >> 63 & 1 == 1
        let isSwapped = entry >> 62 & 1 == 1
        let isFiles = entry >> 61 & 1 == 1
        return !isSwapped && (!isPresent || isFiles)
    }
}
