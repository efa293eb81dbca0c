import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { parseNetwork } from "./configuration.ts";
import { Network } from "./network.ts";

/** Plugins that write down what they were told, and answer as their settings say. */
const PLUGIN = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const input = JSON.parse(readFileSync(0, "utf8"));
const { CNI_COMMAND: command, CNI_CONTAINERID: id, CNI_NETNS: netns, CNI_IFNAME: ifName, CNI_ARGS: args } = process.env;
appendFileSync(__dirname + "/../calls", JSON.stringify({ command, id, netns, ifName, args, input }) + "\\n");
if (input.fails === command) { console.log(JSON.stringify({ code: 11, msg: "try again", details: "later" })); process.exit(1); }
if (input.crashes === command) { console.error("segmentation fault"); process.exit(139); }
if (command === "ADD") console.log(JSON.stringify({ cniVersion: input.cniVersion, ips: [...(input.prevResult?.ips ?? []), { address: input.address }] }));
`;

let folder: string;
const { signal } = new AbortController();
const eth0 = { containerId: "c1", netns: "/run/netns/c1", ifName: "eth0" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "k8ts-cni-"));
  const bin = mkdtempSync(join(folder, "bin"));
  for (const name of ["first", "second"]) writeFileSync(join(bin, name), PLUGIN, { mode: 0o755 });
  plugins = bin;
});
afterEach(() => rmSync(folder, { recursive: true }));
let plugins: string;

function network(first: object = {}, second: object = {}): Network {
  const configuration = parseNetwork(
    JSON.stringify({
      cniVersion: "1.0.0",
      name: "pods",
      plugins: [
        { type: "first", address: "10.0.0.2/24", ...first },
        { type: "second", address: "fd00::2/64", capabilities: { portMappings: true }, ...second },
      ],
    }),
  );
  return new Network({
    configuration,
    paths: ["/nowhere", plugins],
    stateFolder: join(folder, "state"),
    clock: realClock(),
  });
}

interface Call {
  readonly command: string;
  readonly input: {
    readonly type: string;
    readonly prevResult?: { readonly ips: readonly object[] };
    readonly runtimeConfig?: object;
  };
  readonly netns?: string;
  readonly args: string;
}

function calls(): readonly Call[] {
  return readFileSync(join(folder, "calls"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);
}

const commands = () => calls().map(({ command, input }) => `${command} ${input.type}`);

describe("attaching a container", () => {
  it("asks each plugin in turn, with what the one before it answered, and detaches in the other order", async () => {
    const runtimeConfig = { portMappings: [{ hostPort: 80, containerPort: 8080 }], bandwidth: {} };
    const attachment = { ...eth0, args: { K8S_POD_NAME: "web" }, runtimeConfig };
    const { addresses } = await network().attach(attachment, signal);
    expect(addresses).toEqual(["10.0.0.2", "fd00::2"]);
    await network().check(attachment, signal);
    await network().detach(eth0, signal);
    expect(commands()).toEqual(["ADD first", "ADD second", "CHECK first", "CHECK second", "DEL second", "DEL first"]);
    const [add, next, , , del] = calls();
    expect(add).toMatchObject({ id: "c1", netns: "/run/netns/c1", ifName: "eth0", args: "K8S_POD_NAME=web" });
    expect(add?.input).toEqual({ cniVersion: "1.0.0", name: "pods", type: "first", address: "10.0.0.2/24" });
    expect(next?.input.prevResult?.ips).toEqual([{ address: "10.0.0.2/24" }]);
    expect(next?.input.runtimeConfig).toEqual({ portMappings: runtimeConfig.portMappings });
    // Taken back with what it was given, though whoever takes it back has forgotten it.
    expect(del?.input.runtimeConfig).toEqual({ portMappings: runtimeConfig.portMappings });
    expect(del?.input.prevResult?.ips).toHaveLength(2);
  });

  it("takes everything back if a plugin fails, and says what it said", async () => {
    await expect(network({}, { fails: "ADD" }).attach(eth0, signal)).rejects.toMatchObject({
      code: 11,
      message: 'plugin type="second" failed (add): try again; later',
    });
    expect(commands()).toEqual(["ADD first", "ADD second", "DEL second", "DEL first"]);
    await network().attach(eth0, signal);
  });

  it("says what a plugin that crashed left behind", async () => {
    await expect(network({ crashes: "ADD" }).attach(eth0, signal)).rejects.toThrow(
      'plugin type="first" failed (add): exit code 139; segmentation fault',
    );
  });

  it("refuses a plugin that is not there, and an interface that is", async () => {
    await expect(network({ type: "third" }).attach(eth0, signal)).rejects.toThrow(
      'failed to find plugin "third" in path',
    );
    await network().attach({ ...eth0, containerId: "c2" }, signal);
    await expect(network().attach({ ...eth0, containerId: "c2" }, signal)).rejects.toThrow("attached");
  });

  it("finds nothing to check where nothing was attached", async () => {
    await expect(network().check(eth0, signal)).rejects.toThrow('c1 is not attached to "pods" by eth0');
  });
});

describe("what is left over", () => {
  it("is detached once nobody knows its container, without a namespace, also after a fault", async () => {
    for (const containerId of ["c1", "c2"]) await network().attach({ ...eth0, containerId }, signal);
    const alive = new Set(["c2"]);
    await expect(network({ fails: "DEL" }).collect(alive, signal)).rejects.toThrow("failed (delete): try again");
    expect((await network().collect(alive, signal)).map(({ containerId }) => containerId)).toEqual(["c1"]);
    expect(await network().collect(alive, signal)).toEqual([]);
    expect(calls().at(-1)).toMatchObject({ command: "DEL", id: "c1" });
    expect(calls().at(-1)).not.toHaveProperty("netns");
  });
});
