/**
 * A small network of namespaces for tests: a node in the middle, with Pods and a client around it, each on a link of
 * its own. Nothing of it can be reached from outside, and nothing outside from it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

const execute = promisify(execFile);

export function canMakeNamespaces(): boolean {
  return process.platform === "linux" && process.getuid?.() === 0;
}

export class TestNetwork implements AsyncDisposable {
  readonly #prefix: string;
  readonly #namespaces: string[] = [];
  readonly #children: ChildProcess[] = [];

  /** `prefix`: short, for names of links are. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  name(of: string): string {
    return `${this.#prefix}-${of}`;
  }

  async addNode(name: string): Promise<void> {
    await this.#add(name);
    await this.in(name, "sysctl", "-qw", "net.ipv4.ip_forward=1");
  }

  /** A namespace with one address, whose every packet goes through the node. */
  async addHost(name: string, node: string, address: string): Promise<void> {
    await this.#add(name);
    const [inside, outside] = [`${this.#prefix}${name}0`, `${this.#prefix}${name}1`];
    await execute("ip", [
      "link",
      "add",
      inside,
      "netns",
      this.name(name),
      "type",
      "veth",
      "peer",
      "name",
      outside,
      "netns",
      this.name(node),
    ]);
    await this.in(name, "ip", "addr", "add", `${address}/32`, "dev", inside);
    await this.in(name, "ip", "link", "set", inside, "up");
    await this.in(node, "ip", "link", "set", outside, "up");
    await this.in(node, "ip", "addr", "add", "169.254.1.1/32", "dev", outside);
    await this.in(node, "ip", "route", "add", `${address}/32`, "dev", outside);
    await this.in(name, "ip", "route", "add", "169.254.1.1/32", "dev", inside);
    await this.in(name, "ip", "route", "add", "default", "via", "169.254.1.1", "dev", inside);
  }

  /** The same of IPv6, for a host that is there. */
  async addIpv6(name: string, node: string, address: string): Promise<void> {
    const [inside, outside] = [`${this.#prefix}${name}0`, `${this.#prefix}${name}1`];
    await this.in(node, "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1");
    await this.in(node, "ip", "-6", "addr", "add", "fe80::1/64", "dev", outside, "nodad");
    await this.in(node, "ip", "-6", "route", "add", `${address}/128`, "dev", outside);
    await this.in(name, "ip", "-6", "addr", "add", `${address}/128`, "dev", inside, "nodad");
    await this.in(name, "ip", "-6", "route", "add", "default", "via", "fe80::1", "dev", inside);
  }

  /** All these addresses are the host's, too. */
  async addRange(name: string, node: string, cidr: string): Promise<void> {
    await this.in(name, "ip", "route", "add", "local", cidr, "dev", "lo");
    await this.in(node, "ip", "route", "add", cidr, "dev", `${this.#prefix}${name}1`);
  }

  async in(name: string, command: string, ...args: string[]): Promise<string> {
    const { stdout } = await execute("nsenter", [`--net=/run/netns/${this.name(name)}`, command, ...args]);
    return stdout;
  }

  /** A program of Node in there, which says `ready` once it is. */
  async start(name: string, program: string): Promise<void> {
    const child = this.#spawn(name, program);
    const [chunk] = (await once(child.stdout ?? child, "data")) as [Buffer];
    if (!chunk.toString().includes("ready")) throw new Error(`${name}: ${chunk.toString()}`);
  }

  /** What a program of Node in there prints, as JSON. */
  async ask<T>(name: string, program: string): Promise<T> {
    return JSON.parse(await this.in(name, process.execPath, "-e", program)) as T;
  }

  #spawn(name: string, program: string): ChildProcess {
    const args = [`--net=/run/netns/${this.name(name)}`, process.execPath, "-e", program];
    const child = spawn("nsenter", args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    return child;
  }

  async #add(name: string): Promise<void> {
    await execute("ip", ["netns", "add", this.name(name)]);
    this.#namespaces.push(this.name(name));
    await this.in(name, "ip", "link", "set", "lo", "up");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    for (const name of this.#namespaces) await execute("ip", ["netns", "del", name]);
  }
}

/** A server that tells who it is and whom it sees, over TCP and UDP. */
export function echoServer(name: string, port: number): string {
  return `
    const net = require("node:net"), dgram = require("node:dgram");
    const udp = dgram.createSocket("udp4");
    udp.on("message", (_, from) => udp.send(${JSON.stringify(name)} + " " + from.address, from.port, from.address));
    net.createServer((socket) => socket.end(${JSON.stringify(name)} + " " + socket.remoteAddress.replace("::ffff:", "")))
      .listen(${port}, () => udp.bind(${port}, () => console.log("ready")));`;
}

/** Connects so many times, and counts the answers. A failure counts by its code. */
export function connections(host: string, port: number, count: number): string {
  return `
    const net = require("node:net");
    const one = () => new Promise((resolve) => {
      let said = "";
      const socket = net.connect({ host: ${JSON.stringify(host)}, port: ${port}, timeout: 1500 });
      socket.on("data", (data) => (said += data));
      socket.on("timeout", () => { said = "ETIMEDOUT"; socket.destroy(); });
      socket.on("error", (error) => (said = error.code));
      socket.on("close", () => resolve(said));
    });
    (async () => {
      const counts = {};
      for (let turn = 0; turn < ${count}; turn++) { const said = await one(); counts[said] = (counts[said] ?? 0) + 1; }
      console.log(JSON.stringify(counts));
    })();`;
}

/** One datagram from this port, and the answer. */
export function datagram(host: string, port: number, from: number): string {
  return `
    const socket = require("node:dgram").createSocket("udp4");
    socket.on("message", (said) => { console.log(JSON.stringify(String(said))); process.exit(); });
    socket.bind(${from}, () => socket.send("x", ${port}, ${JSON.stringify(host)}));
    setTimeout(() => { console.log(JSON.stringify("none")); process.exit(); }, 1500);`;
}
