/** The browser's clock and timers: the only place of the page that touches the real ones. */
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

/** Calls again and again until told to stop. */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => clearInterval(timer);
}
