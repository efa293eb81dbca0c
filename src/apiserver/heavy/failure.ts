/** Errors on their way from one thread to the other, and back. */
import { isStatusError, StatusError } from "#api";
import { isStoreError, StoreError } from "#store";
import type { Failure } from "./protocol.ts";

/** Errors of the serving thread that have been sent: what comes back is the error itself, with its causes. */
export class SentErrors {
  readonly #errors: unknown[] = [];

  failureOf(error: unknown): Failure {
    const known = this.#errors.push(error) - 1;
    return { ...failureOf(error), known };
  }

  errorOf(failure: Failure): unknown {
    return failure.known === undefined ? errorOf(failure) : this.#errors[failure.known];
  }
}

const returning = new WeakMap<object, number>();

export function failureOf(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const known = error instanceof Error ? returning.get(error) : undefined;
  if (isStatusError(error)) {
    const { reason, code, details } = error;
    const { cause } = error;
    const store = isStoreError(cause) ? { store: { code: cause.code, maybeApplied: cause.maybeApplied } } : {};
    return { message, stack, known, status: { reason, code, details }, ...store };
  }
  const tooDeep = error instanceof RangeError && message.startsWith("Maximum call stack");
  return { message, stack, known, tooDeep };
}

export function errorOf(failure: Failure): Error {
  const error = made(failure);
  if (failure.stack !== undefined) error.stack = failure.stack;
  if (failure.known !== undefined) returning.set(error, failure.known);
  return error;
}

function made({ message, status, tooDeep, store }: Failure): Error {
  if (tooDeep === true) return new RangeError(message);
  if (status === undefined) return new Error(message);
  const { reason, code, details } = status;
  const cause = store && new StoreError(store.code, message, { maybeApplied: store.maybeApplied });
  return new StatusError(reason, message, { code, ...(details && { details }), ...(cause && { cause }) });
}
