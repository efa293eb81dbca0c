/** An event that another thread has made: a line, which this one writes to the log that both share. */
import type { AuditEvent, LineReceiver } from "./event.ts";

export class GivenLine implements AuditEvent {
  readonly #line: Buffer;

  constructor(line: Buffer) {
    this.#line = line;
  }

  writeTo(receiver: LineReceiver): void {
    // A receiver may join it with other texts: bytes are for objects.
    receiver.piece(this.#line.toString("utf8"));
  }

  /** It was fitted where it was made. */
  truncated(): undefined {
    return undefined;
  }
}
