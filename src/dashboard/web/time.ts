/** The browser's clock and timers: only this file uses the real ones. */
export function now(): number {
  return Date.now();
}

export function ticks(): number {
  return performance.now();
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener("abort", wake, { once: true });
  });
}

/** Calls repeatedly until stopped. */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => clearInterval(timer);
}
