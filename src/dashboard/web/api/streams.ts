/**
 * Watches, logs and flows: texts that go on, all over one WebSocket to the dashboard's server (see server/streams.ts).
 *
 * A lost connection ends all open streams with an error; callers reopen theirs, which also reconnects.
 */
import { Refused } from "./request.ts";

export interface StreamHandlers {
  /** The response has started. A refusal is reported only by `onEnd`, with its message. */
  onOpen?(): void;
  onText(text: string): void;
  onEnd(error?: Error): void;
}

interface Open {
  readonly handlers: StreamHandlers;
  status: number;
  /** The message of a refusal, as far as received. */
  refusal: string;
}

export class StreamConnection {
  readonly #url: string;
  #socket: WebSocket | undefined;
  readonly #open = new Map<number, Open>();
  #waiting: string[] = [];
  #last = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Returns a function that ends it; no handler is called after that. `metadata`: only that of each object. */
  open(path: string, handlers: StreamHandlers, metadata = false): () => void {
    const id = ++this.#last;
    this.#open.set(id, { handlers, status: 0, refusal: "" });
    this.#send({ open: id, path, ...(metadata && { metadata }) });
    return () => {
      if (this.#open.delete(id)) this.#send({ close: id });
    };
  }

  #send(message: object): void {
    const text = JSON.stringify(message);
    this.#socket ??= this.#connect();
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
    else this.#waiting.push(text);
  }

  #connect(): WebSocket {
    const socket = new WebSocket(this.#url);
    socket.onopen = () => {
      for (const text of this.#waiting.splice(0)) socket.send(text);
    };
    socket.onmessage = ({ data }) => this.#told(JSON.parse(String(data)));
    socket.onclose = () => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#waiting = [];
      const lost = [...this.#open.values()];
      this.#open.clear();
      for (const { handlers } of lost) handlers.onEnd(new Error("The connection to the dashboard was lost."));
    };
    return socket;
  }

  #told({ id, status, text, end }: Told): void {
    const stream = this.#open.get(id);
    if (stream === undefined) return;
    if (status !== undefined) {
      stream.status = status;
      if (status < 400) stream.handlers.onOpen?.();
    }
    if (text !== undefined) {
      if (stream.status < 400) stream.handlers.onText(text);
      else stream.refusal += text;
    }
    if (end === undefined) return;
    this.#open.delete(id);
    if (stream.status >= 400) stream.handlers.onEnd(refusal(stream));
    else stream.handlers.onEnd(end === "" ? undefined : new Error(end));
  }
}

interface Told {
  readonly id: number;
  readonly status?: number;
  readonly text?: string;
  readonly end?: string;
}

function refusal({ status, refusal: text }: Open): Refused {
  try {
    return new Refused({ ...JSON.parse(text), code: status });
  } catch {
    return new Refused({ code: status, message: text.trim() });
  }
}

/** Splits chunks of text into whole lines. */
export class LineReader {
  #rest = "";

  read(text: string): string[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines;
  }
}
