import type ivm from 'isolated-vm';

/**
 * Address space that has to be left for the next request, in bytes: a fresh process has more than that. Any smaller, and
 * the allocator would keep what the look has given back (mallopt(3), M_MMAP_THRESHOLD: 32 MiB at most).
 */
const HEADROOM_BYTES = 33 * 2 ** 20;
/** Of the isolate's memory for the contents of array buffers, which V8 lets grow until it is refused. */
const MAX_EXTERNAL_SHARE = 0.5;
/** Of the heap, garbage or not, after a run that did not end by itself: it may hold whatever it could get. */
const MAX_STOPPED_SHARE = 0.5;

/**
 * Whether the isolate and RLIMIT_DATA leave room for another request. Code that goes on when it is refused memory leaves
 * what it has taken behind, as garbage that nothing makes V8 collect in time. To be asked while no code runs.
 */
export async function hasHeadroom(isolate: ivm.Isolate, heapMb: number, wasStopped: boolean): Promise<boolean> {
  try {
    // Nothing of it is touched, and it is given back at once rather than by the garbage collector.
    new ArrayBuffer(HEADROOM_BYTES).transfer(0);
    const { externally_allocated_size: external, used_heap_size: used } = await isolate.getHeapStatistics();
    if (wasStopped && used > heapMb * 2 ** 20 * MAX_STOPPED_SHARE) return false;
    return external < heapMb * 2 ** 20 * MAX_EXTERNAL_SHARE;
  } catch {
    return false;
  }
}
