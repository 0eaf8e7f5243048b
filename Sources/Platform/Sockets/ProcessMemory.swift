import CLinux
import Glibc

/// The memory that the allocator keeps.
package enum AllocatorArenas {
    /// Limits the number of the allocator's arenas, and the free memory that each keeps, to 128 KiB. Otherwise each
    /// Dispatch thread keeps an arena as large as its largest work. Messages don't allocate, so the loops rarely share
    /// an arena at the same time.
    ///
    /// Existing arenas stay, so call it early.
    package static func limit(to count: Int) {
        // Fails only for invalid values, and then changes nothing.
        _ = mallopt(M_ARENA_MAX, Int32(clamping: count))
        // This is the default, which glibc would double and more after the first large free block.
        _ = mallopt(M_TRIM_THRESHOLD, 131_072)
    }

    /// Returns unused pages to the system, after a burst. The arenas would keep them. Using them again costs a page
    /// fault each, and allocations wait for a part of a millisecond meanwhile. From any thread.
    package static func releaseFreePages() {
        _ = malloc_trim(0)
    }
}

/// Memory that only the start of the process needed: relocations, the runtime's tables, code that ran once. It is more
/// than half of an idle daemon's resident memory.
package enum StartPages {
    /// Releases pages of the program and its libraries that are unchanged from their files. A page that is used again
    /// comes back, usually from the page cache.
    ///
    /// Takes one or two milliseconds. It holds the dynamic linker's lock, so no library is loaded meanwhile.
    ///
    /// - Returns: The number of bytes in these pages, whether they were resident or not.
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
        /// The kernel's information about some pages. Allocated before the linker's lock is taken.
        let entries: UnsafeMutableBufferPointer<UInt64>
        var released = 0
    }

    private static func releaseSegments(of object: loaded_object, _ work: inout Work) {
        // The kernel's own object has no file.
        guard let name = object.name, strstr(name, "linux-vdso") == nil else { return }
        for index in 0..<Int(object.header_count) {
            let header = object.headers[index]
            guard header.p_type == PT_LOAD, header.p_flags & UInt32(PF_W) == 0 else { continue }
            let first = (object.base + UInt(header.p_vaddr)) / work.pageSize
            // The last page of the file's part is mapped whole.
            let end = (object.base + UInt(header.p_vaddr + header.p_filesz) + work.pageSize - 1) / work.pageSize
            var page = first
            while page < end {
                let count = min(end - page, UInt(work.entries.count))
                releasePages(page, count, &work)
                page += count
            }
        }
    }

    /// Releases all these pages, or none if one of them has changed.
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

    /// Whether the page is unchanged. Relocations change code, and so do a debugger's breakpoints.
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
