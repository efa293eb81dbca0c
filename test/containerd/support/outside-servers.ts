/**
 * What is outside of a machine of tests, in one process: a DNS server, a web server that tells whom it sees, and a
 * registry that has one image, a web server. The same image is in private registries, each with a password, behind a
 * certificate of an authority of their own: `outside-servers.ts CA-FILE` writes it. Says `ready` when all listen.
 */
import { createSocket } from "node:dgram";
import { readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:net";
import { realClock } from "../../../src/base/index.ts";
import { imageArchive } from "../../../src/cluster/images/index.ts";
import { findProgram } from "../../../src/cluster/nodes/index.ts";
import { createAuthority } from "../../../src/pki/index.ts";
import { OUTSIDE, PRIVATE } from "./outside-addresses.ts";
import { registryHandler } from "./registry-handler.ts";

const { dns, web, web6, registry } = OUTSIDE;
const NAMES: Record<string, Record<string, string>> = {
  "web.outside.test": { A: web, AAAA: web6 },
  "web.corp.outside.test": { A: web },
  "registry.outside.test": { A: registry },
  ...Object.fromEntries(Object.keys(PRIVATE).map((name) => [name, { A: registry }])),
  "long.outside.test": { TXT: "x".repeat(1200) },
};
const TYPES: Record<number, string> = { 1: "A", 16: "TXT", 28: "AAAA" };

function answer(question: Buffer, limit: number): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  const type = TYPES[question.readUInt16BE(at + 1)] ?? "";
  const known = NAMES[labels.join(".").toLowerCase()];
  const value = known?.[type];
  const data = value === undefined ? undefined : dataOf(type, value);
  const record = data === undefined ? [] : [recordOf(question.subarray(at + 1, at + 3), data)];
  const isCut = end + (record[0]?.length ?? 0) > limit;
  const header = Buffer.from([0, 0, isCut ? 0x83 : 0x81, known === undefined ? 0x83 : 0x80, 0, 1, 0, 0, 0, 0, 0, 0]);
  question.copy(header, 0, 0, 2);
  if (!isCut) header.writeUInt16BE(record.length, 6);
  return Buffer.concat([header, question.subarray(12, end), ...(isCut ? [] : record)]);
}

function dataOf(type: string, value: string): Buffer {
  if (type === "A") return Buffer.from(value.split(".").map(Number));
  if (type === "TXT") {
    const parts = value.match(/.{1,255}/g) ?? [];
    return Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])));
  }
  const [head = "", tail = ""] = value.split("::").map((part) => part);
  const words = (text: string) => (text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16)));
  const [first, last] = [words(head), words(tail)];
  const all = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

function recordOf(type: Buffer, data: Buffer): Buffer {
  const head = Buffer.from([
    0xc0,
    12,
    type[0] ?? 0,
    type[1] ?? 0,
    0,
    1,
    0,
    0,
    0,
    5,
    data.length >> 8,
    data.length & 0xff,
  ]);
  return Buffer.concat([head, data]);
}

const listening: Promise<void>[] = [];
const ready = (listen: (done: () => void) => void) => listening.push(new Promise((resolve) => listen(resolve)));

const udp = createSocket("udp4");
udp.on("message", (question, from) => udp.send(answer(question, 512), from.port, from.address));
ready((done) => udp.bind(53, dns, done));
const tcp = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (data: Buffer) => {
    const said = answer(data.subarray(2), 65_535);
    socket.end(Buffer.concat([Buffer.from([said.length >> 8, said.length & 0xff]), said]));
  });
});
ready((done) => tcp.listen(53, dns, done));

for (const address of [web, web6]) {
  const server = createHttpServer((request, response) => {
    if (request.url === "/large") {
      response.end("x".repeat(500_000));
      return;
    }
    response.end(`outside sees ${(request.socket.remoteAddress ?? "").replace("::ffff:", "")}\n`);
  });
  ready((done) => server.listen(80, address, done));
}
const busybox = await readFile(findProgram("busybox") ?? "/usr/bin/busybox");
const image = imageArchive({
  name: "registry.outside.test/web:1",
  machine: process.arch === "arm64" ? "arm64" : "x64",
  files: [
    { path: "bin", type: "directory" },
    { path: "bin/busybox", type: "file", content: busybox, mode: 0o755 },
    { path: "bin/sh", type: "symlink", target: "busybox" },
    { path: "www", type: "directory" },
    { path: "www/index.html", type: "file", content: Buffer.from("from outside\n") },
  ],
  command: ["/bin/busybox", "httpd", "-f", "-p", "80", "-h", "/www"],
});
ready((done) => createHttpServer(registryHandler(image)).listen(80, registry, done));

const [caFile = ""] = process.argv.slice(2);
const clock = realClock();
const authority = await createAuthority({ commonName: "outside", clock });
const dnsNames = Object.keys(PRIVATE);
const { certPem: cert, keyPem: key } = await authority.issue({
  commonName: "registries",
  usages: ["server"],
  dnsNames,
});
await writeFile(caFile, authority.certPem);
const handlers = new Map(
  Object.entries(PRIVATE).map(([name, { user, repositories }]) => [name, registryHandler(image, user, repositories)]),
);
const privates = createHttpsServer({ cert, key }, (request, response) => {
  const handler = handlers.get(request.headers.host ?? "");
  if (handler === undefined) response.writeHead(421).end();
  else handler(request, response);
});
ready((done) => privates.listen(443, registry, done));

await Promise.all(listening);
process.stdout.write("ready\n");
