import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { daemonsOf, openDaemonImage } from "./daemon-image.ts";

let dir: string;
let server: Server | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-daemon-"));
});
afterEach(() => {
  server?.close();
  rmSync(dir, { recursive: true });
});

/** A daemon that has one image. */
async function daemon(name: string): Promise<string> {
  const socket = join(dir, "docker.sock");
  server = createServer(({ url }, response) => {
    if (url === `/images/${name}/json`) response.end("{}");
    else if (url === `/images/${name}/get`) response.end("archive of the daemon");
    else response.writeHead(404).end(JSON.stringify({ message: "No such image: x" }));
  });
  await new Promise<void>((resolve) => server?.listen(socket, resolve));
  return socket;
}

function program(script: string): string {
  const path = join(dir, "docker");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const read = async (name: string, sockets: readonly string[], programs: readonly string[] = []) =>
  (await buffer((await openDaemonImage(name, { sockets, programs })).read())).toString();

describe("docker-daemon:", () => {
  it("reads an image through the API, as often as it is asked", async () => {
    const socket = await daemon("team/app:1");
    const source = await openDaemonImage("team/app:1", { sockets: [socket], programs: [] });
    for (let time = 0; time < 2; time++) expect((await buffer(source.read())).toString()).toBe("archive of the daemon");
  });

  it("asks the program where no socket has it", async () => {
    const saving = program('[ "$1" = save ] && echo "saved $2"; true');
    expect(await read("app", [await daemon("other")], [saving])).toBe("saved app\n");
  });

  it("says who was asked, and what they said", async () => {
    const failing = program("echo daemon is down >&2; exit 1");
    await expect(read("x", [await daemon("other")], [failing])).rejects.toThrow(
      `${join(dir, "docker.sock")}: No such image: x; ${failing}: daemon is down`,
    );
    await expect(read("x", [])).rejects.toThrow("neither Docker nor Podman is here");
  });

  it("a save that fails half-way is a failure", async () => {
    const half = program('[ "$1" = image ] && exit 0; echo half; echo broken >&2; exit 1');
    await expect(read("x", [], [half])).rejects.toThrow("broken");
  });

  it("goes where DOCKER_HOST says, on this machine only", async () => {
    const socket = await daemon("a");
    expect(daemonsOf({ DOCKER_HOST: `unix://${socket}` }, () => undefined)).toEqual({
      sockets: [socket],
      programs: [],
    });
    expect(() => daemonsOf({ DOCKER_HOST: "tcp://other:2375" }, () => undefined)).toThrow(
      "sockets of this machine only",
    );
  });
});
