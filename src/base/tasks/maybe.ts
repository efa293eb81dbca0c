/**
 * A value that is known now, or the promise of one. Most requests are answered from memory: code that may have to wait,
 * and mostly does not, is written once with these functions and runs in the same call where nothing is pending.
 *
 * 1. What a function throws and what its promise rejects with are the same to the functions that take `failed`.
 * 2. As with `Promise.then`, `failed` does not see errors of `done`: they go to the caller.
 *
 * docs/adr/0017-value-or-promise.md has the reasons and figures.
 */
export type Maybe<T> = T | Promise<T>;

export function isPending<T>(value: Maybe<T>): value is Promise<T> {
  return value instanceof Promise;
}

/**
 * `done` of the value, as soon as it is known. (Not called `then`: a module that exports that name cannot be imported
 * dynamically.)
 */
export function andThen<T, R>(value: Maybe<T>, done: (value: T) => Maybe<R>): Maybe<R> {
  return isPending(value) ? value.then(done) : done(value);
}

/** `done` of what `run` returns, or `failed` of its error. */
export function settle<T, R>(
  run: () => Maybe<T>,
  done: (value: T) => Maybe<R>,
  failed: (error: unknown) => Maybe<R>,
): Maybe<R> {
  let value: Maybe<T>;
  try {
    value = run();
  } catch (error) {
    return failed(error);
  }
  return isPending(value) ? value.then(done, failed) : done(value);
}

/** What `run` returns, or `failed` of its error. */
export function attempt<T>(run: () => Maybe<T>, failed: (error: unknown) => Maybe<T>): Maybe<T> {
  try {
    const value = run();
    return isPending(value) ? value.catch(failed) : value;
  } catch (error) {
    return failed(error);
  }
}

/** What `run` returns; `end` runs when that is known or has failed, before anybody else sees it. */
export function lastly<T>(run: () => Maybe<T>, end: () => void): Maybe<T> {
  return settle(
    run,
    (value) => {
      end();
      return value;
    },
    (error) => {
      end();
      throw error;
    },
  );
}

/** All values, in their order. */
export function allKnown<T>(values: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return values.some(isPending) ? Promise.all(values) : (values as readonly T[]);
}
