/** How many questions a second the cluster's DNS answers, against a bare UDP echo in the same thread. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { encode } from "dns-packet";
import type { Figure } from "../run.ts";

const QUESTIONS = 40_000;
const IN_FLIGHT = 64;
const ROUNDS = 3;

export async function questions(report: (figure: Figure) => void): Promise<void> {
  const worker = new Worker(new URL("./udp-servers.ts", import.meta.url));
  const [ports] = (await once(worker, "message")) as [{ readonly dns: number; readonly echo: number }];
  const messages = Array.from({ length: 1000 }, (_, at) => {
    const question = { name: `s${at * 7}.default.svc.cluster.local`, type: "A" } as const;
    return encode({ type: "query", id: at, flags: 256, questions: [question] });
  });
  try {
    await exchanges(ports.echo, messages); // both are warm then
    await exchanges(ports.dns, messages);
    const rates: { readonly bound: number; readonly value: number }[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rates.push({ bound: await exchanges(ports.echo, messages), value: await exchanges(ports.dns, messages) });
    const middle = rates.sort((a, b) => a.value / a.bound - b.value / b.bound)[ROUNDS >> 1] ?? { value: 0, bound: 0 };
    report({ name: "DNS: answers of 10,000 Services, against an echo", unit: "/s", ...middle });
  } finally {
    worker.postMessage("end");
    await once(worker, "exit");
  }
}

/** How many a second, with so many in flight. Loopback loses none while that is few. */
async function exchanges(port: number, messages: readonly Buffer[]): Promise<number> {
  const socket = createSocket("udp4");
  try {
    await new Promise<void>((resolve) => socket.connect(port, "127.0.0.1", resolve));
    let sent = 0;
    let received = 0;
    const done = Promise.withResolvers<void>();
    const send = () => socket.send(messages[sent++ % messages.length] ?? Buffer.alloc(0));
    socket.on("message", () => {
      received += 1;
      if (received === QUESTIONS) done.resolve();
      else if (sent < QUESTIONS) send();
    });
    const start = performance.now();
    while (sent < IN_FLIGHT) send();
    await done.promise;
    return (QUESTIONS / (performance.now() - start)) * 1000;
  } finally {
    socket.close();
  }
}
