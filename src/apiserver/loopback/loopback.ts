/**
 * The server as its own client. Quotas, allocators and the controllers of custom resources write through the server
 * that they are a part of: they are made before it is complete, and write only after that.
 */
import type { ServerContext } from "../rest/server-context.ts";

export class Loopback {
  #context: ServerContext | undefined;

  /** The server is complete: writes may pass through it from now on. */
  connect(context: ServerContext): void {
    this.#context = context;
  }

  /** Throws before `connect`. */
  get context(): ServerContext {
    if (this.#context === undefined) throw new Error("the API server is asked to write before it is complete");
    return this.#context;
  }
}
