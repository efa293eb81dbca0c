/**
 * The thread of large requests: see `heavy-thread.ts`. It runs the same steps of a write as the serving thread
 * (`rest/write/order.ts`), with a context that asks the serving thread for whatever is not in the request; and it
 * decodes bodies as the serving thread does (`rest/write/read-body.ts`).
 */
import { parentPort, workerData } from "node:worker_threads";
import { failureOf } from "./failure.ts";
import { decoded, HeavyJobs } from "./jobs.ts";
import type { FromThread, HeavySetUp, ToThread } from "./protocol.ts";

const port = parentPort;
if (port === null) throw new Error("thread.ts runs as a worker thread only");

const send = (message: FromThread) => port.postMessage(message);
const jobs = new HeavyJobs(workerData as HeavySetUp, send);

port.on("message", (message: ToThread) => {
  if (message.type === "define") jobs.define(message.definition);
  else if (message.type === "reply") jobs.replied(message);
  else
    (message.type === "decode" ? decoded(message) : jobs.run(message)).then(
      (outcome) => send({ type: "ended", id: message.id, outcome }),
      (error: unknown) => send({ type: "ended", id: message.id, outcome: { failure: failureOf(error) } }),
    );
});
