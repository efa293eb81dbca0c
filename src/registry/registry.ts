/**
 * A registry of images on this machine: the OCI distribution API on a folder.
 *
 *     docker push ──► routes ──► uploads ──► blobs, repositories
 *     node's pull ──► routes ◄── blobs, repositories
 *
 * 1. It has no accounts: it listens where its user says, on loopback by default. Pages of other sites that a browser
 *    shows cannot use it.
 * 2. What was answered with 201 survives a loss of power.
 * 3. One process serves a folder at a time.
 */
import { mkdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { acquireFileLock, type Clock, type Logger } from "#base";
import { Blobs } from "./files/blobs.ts";
import { RegistryError } from "./files/errors.ts";
import { Repositories } from "./files/repositories.ts";
import { Uploads } from "./files/uploads.ts";
import { type Files, jsonAnswer, type RegistryAnswer } from "./requests/request.ts";
import { answerTo } from "./requests/routes.ts";

export interface RegistryOptions {
  readonly dir: string;
  /** Each with the same port. */
  readonly hosts: readonly string[];
  /** 0: a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Registry {
  readonly port: number;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;
const VERSION = { "docker-distribution-api-version": "registry/2.0" };

export async function openRegistry({ dir, hosts, port, clock, log }: RegistryOptions): Promise<Registry> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const lock = acquireFileLock(join(dir, "lock"), { holder: `process ${process.pid}` });
  if ("heldBy" in lock) throw new Error(`the registry in ${dir} is being served by ${lock.heldBy}`);
  const uploadDir = join(dir, "uploads");
  const servers: Server[] = [];
  const blobs = new Blobs(join(dir, "blobs"));
  const uploads = new Uploads(uploadDir, clock);
  const files = { blobs, uploads, repositories: new Repositories(join(dir, "repositories"), blobs) };
  const close = async () => {
    await Promise.all(servers.map(closeServer));
    await uploads.close();
    lock.release();
  };
  try {
    // Of a process that was killed.
    await rm(uploadDir, { recursive: true, force: true });
    let bound = port;
    for (const host of hosts) {
      const server = createServer((message, response) => void serve(files, message, response, log));
      server.keepAliveTimeout = IDLE_MS;
      // A layer may take its time: only the head of a request is limited.
      server.requestTimeout = 0;
      bound = await listen(server, host, bound);
      servers.push(server);
    }
    return { port: bound, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function serve(files: Files, message: IncomingMessage, response: ServerResponse, log: Logger): Promise<void> {
  const answer = await answerOf(files, message, log);
  const { status, headers = {}, body } = answer;
  response.writeHead(status, { ...VERSION, ...headers });
  if (body === undefined || Buffer.isBuffer(body)) response.end(message.method === "HEAD" ? undefined : body);
  else await pipeline(body, response).catch((error: unknown) => log.debug("an answer was not read", { error }));
}

async function answerOf(files: Files, message: IncomingMessage, log: Logger): Promise<RegistryAnswer> {
  const { method = "", url = "", headers } = message;
  try {
    if (headers.origin !== undefined && URL.parse(headers.origin)?.host !== headers.host)
      throw new RegistryError(403, "DENIED", "pages of other sites may not use this registry");
    const target = URL.parse(url, "http://registry");
    const path = target === null ? undefined : decoded(target.pathname);
    if (target === null || path === undefined) throw new RegistryError(400, "NAME_INVALID", "the path cannot be read");
    return await answerTo(files, path, { method, query: target.searchParams, headers, body: message });
  } catch (error) {
    const known = error instanceof RegistryError ? error : unexpected(error, log);
    return jsonAnswer(known.body, known.headers, known.status);
  }
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function unexpected(error: unknown, log: Logger): RegistryError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return new RegistryError(507, "UNKNOWN", "the registry's disk is full");
  if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE")
    return new RegistryError(499, "UNKNOWN", "the client has disconnected");
  log.error("request to the registry failed", { error });
  return new RegistryError(500, "UNKNOWN", "the registry could not do this");
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
