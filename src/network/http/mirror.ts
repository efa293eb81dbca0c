/**
 * Request mirroring. A mirror never delays the request: if it does not keep up with the body it is dropped, and its
 * response is discarded.
 */
import { PassThrough, type Readable, Transform } from "node:stream";
import type { Backends } from "./backends.ts";
import type { Connections, Outgoing } from "./connections.ts";
import type { Backend } from "./route.ts";

/** Bytes of a body that a mirror has not read yet. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** Starts the mirrors, and returns the request to send: reading its body also feeds the mirrors. */
export function mirrored(
  { backends, connections }: { readonly backends: Backends; readonly connections: Connections },
  mirrors: readonly Backend[],
  outgoing: Outgoing,
  signal: AbortSignal,
): Outgoing {
  const targets = mirrors.flatMap((backend) => {
    const tls = backends.tlsOf(backend);
    return tls === "closed"
      ? []
      : backends
          .choose(backend)
          .slice(0, 1)
          .map((endpoint) => ({ endpoint, tls }));
  });
  if (targets.length === 0) return outgoing;
  const copies = targets.map(({ endpoint, tls }) => {
    const body = outgoing.body === undefined ? undefined : new PassThrough();
    const copy = { ...outgoing, headers: { ...outgoing.headers }, body, tls };
    void connections.send(endpoint, copy, signal).then((attempt) => {
      if (attempt.kind === "answered") attempt.answer.on("error", () => {}).resume();
      else body?.destroy();
    });
    return body;
  });
  const { body } = outgoing;
  return body === undefined
    ? outgoing
    : {
        ...outgoing,
        body: shared(
          body,
          copies.flatMap((copy) => copy ?? []),
        ),
      };
}

function shared(body: Readable, copies: readonly PassThrough[]): Readable {
  for (const copy of copies) copy.on("error", () => {});
  const passing = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      for (const copy of copies) {
        if (copy.destroyed) continue;
        if (copy.writableLength > MOST_WAITING_BYTES) copy.destroy(new Error("the mirror does not keep up"));
        else copy.write(chunk);
      }
      done(null, chunk);
    },
    flush: (done) => {
      for (const copy of copies) copy.end();
      done();
    },
  });
  body.once("error", (error) => {
    passing.destroy(error);
    for (const copy of copies) copy.destroy(error);
  });
  return body.pipe(passing);
}
