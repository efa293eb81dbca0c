/**
 * Images of Docker and Podman on this machine: `docker-daemon:NAME`.
 *
 *     NAME ──► the API of the first daemon that has it, over its Unix socket ──► archive
 *          ──► `docker save`, `podman save`                                  ──► archive
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { ClusterError } from "../config/errors.ts";
import type { ImageSource } from "./open-image.ts";

export const DAEMON_PREFIX = "docker-daemon:";

const PROGRAMS = ["docker", "podman"];

export interface Daemons {
  /** Paths of sockets; those that do not exist are left out. */
  readonly sockets: readonly string[];
  /** Programs on PATH that have `save`. */
  readonly programs: readonly string[];
}

/** Those of this machine. `find`: the path of a program, if there is one. */
export function daemonsOf(env: NodeJS.ProcessEnv, find: (program: string) => string | undefined): Daemons {
  const { DOCKER_HOST: host = "", XDG_RUNTIME_DIR: runtimeDir } = env;
  if (host !== "" && !host.startsWith("unix://"))
    throw new ClusterError(`DOCKER_HOST is ${host}: images are read from sockets of this machine only.`);
  const own = runtimeDir === undefined ? [] : [join(runtimeDir, "docker.sock"), join(runtimeDir, "podman/podman.sock")];
  const sockets =
    host !== ""
      ? [host.slice("unix://".length)]
      : ["/var/run/docker.sock", ...own, join(homedir(), ".docker/run/docker.sock"), "/run/podman/podman.sock"];
  const programs = PROGRAMS.map(find).filter((path) => path !== undefined);
  return { sockets: sockets.filter((path) => existsSync(path)), programs };
}

/** Throws ClusterError if no daemon has it. */
export async function openDaemonImage(name: string, { sockets, programs }: Daemons): Promise<ImageSource> {
  const tried: string[] = [];
  for (const socket of sockets) {
    const problem = await problemAt(socket, name);
    if (problem === undefined) return { read: () => fromSocket(socket, name) };
    tried.push(`${socket}: ${problem}`);
  }
  for (const program of programs) {
    const problem = await programProblem(program, name);
    if (problem === undefined) return { read: () => fromProgram(program, name) };
    tried.push(`${program}: ${problem}`);
  }
  const why = tried.length === 0 ? "neither Docker nor Podman is here" : tried.join("; ");
  throw new ClusterError(`The image ${name} cannot be read from a daemon: ${why}.`);
}

async function ask(socketPath: string, path: string): Promise<IncomingMessage> {
  const asked = request({ socketPath, path, headers: { host: "localhost" } }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}

async function problemAt(socket: string, name: string): Promise<string | undefined> {
  try {
    const answer = await ask(socket, `/images/${encodeURI(name)}/json`);
    if (answer.statusCode === 200) {
      answer.resume();
      return undefined;
    }
    const { message = `status ${answer.statusCode}` } = (await json(answer)) as { message?: string };
    return message;
  } catch (error) {
    return (error as Error).message;
  }
}

async function* fromSocket(socket: string, name: string): AsyncGenerator<Uint8Array> {
  const answer = await ask(socket, `/images/${encodeURI(name)}/get`);
  if (answer.statusCode !== 200) throw new ClusterError(`${socket}: ${(await text(answer)).trim()}`);
  yield* answer;
}

async function programProblem(program: string, name: string): Promise<string | undefined> {
  const child = spawn(program, ["image", "inspect", name], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    const [[code], problem] = await Promise.all([once(child, "close"), text(child.stderr)]);
    return code === 0 ? undefined : (problem.trim().split("\n").at(-1) ?? `exit code ${code}`);
  } catch (error) {
    return (error as Error).message;
  }
}

async function* fromProgram(program: string, name: string): AsyncGenerator<Uint8Array> {
  const child = spawn(program, ["save", name], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = Promise.all([once(child, "close"), text(child.stderr)]);
  // Awaited below, once the output has been read.
  ended.catch(() => {});
  yield* child.stdout;
  const [[code], problem] = await ended;
  if (code !== 0) throw new ClusterError(`${program} save ${name}: ${problem.trim()}`);
}
