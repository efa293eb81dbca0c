/**
 * What the library's programs use and Node 22 lacks. esbuild puts these in place of the global names, so that nothing
 * global is changed.
 *
 * 1. Resources are disposed of in reverse order, each once; the first error is thrown after all of them.
 */
class PlainStack {
  #disposers: (() => unknown)[] = [];
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  defer(dispose: () => unknown): void {
    if (this.#disposed) throw new ReferenceError("the stack was disposed of already");
    this.#disposers.push(dispose);
  }

  protected take(): (() => unknown)[] {
    this.#disposed = true;
    return this.#disposers.splice(0).reverse();
  }

  protected give(to: PlainStack): void {
    for (const dispose of this.take().reverse()) to.defer(dispose);
  }
}

class PlainAsyncDisposableStack extends PlainStack {
  use<T extends AsyncDisposable | Disposable | null | undefined>(value: T): T {
    if (value === null || value === undefined) return value;
    this.defer(() => (Symbol.asyncDispose in value ? value[Symbol.asyncDispose]() : value[Symbol.dispose]()));
    return value;
  }

  adopt<T>(value: T, dispose: (value: T) => unknown): T {
    this.defer(() => dispose(value));
    return value;
  }

  move(): PlainAsyncDisposableStack {
    const moved = new PlainAsyncDisposableStack();
    this.give(moved);
    return moved;
  }

  async disposeAsync(): Promise<void> {
    const errors: unknown[] = [];
    for (const dispose of this.take()) {
      try {
        await dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }
}

class PlainDisposableStack extends PlainStack {
  use<T extends Disposable | null | undefined>(value: T): T {
    if (value !== null && value !== undefined) this.defer(() => value[Symbol.dispose]());
    return value;
  }

  adopt<T>(value: T, dispose: (value: T) => unknown): T {
    this.defer(() => dispose(value));
    return value;
  }

  move(): PlainDisposableStack {
    const moved = new PlainDisposableStack();
    this.give(moved);
    return moved;
  }

  dispose(): void {
    const errors: unknown[] = [];
    for (const dispose of this.take()) {
      try {
        dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

const AsyncStack = globalThis.AsyncDisposableStack ?? PlainAsyncDisposableStack;
const SyncStack = globalThis.DisposableStack ?? PlainDisposableStack;

export { AsyncStack as AsyncDisposableStack, PlainAsyncDisposableStack, SyncStack as DisposableStack };
