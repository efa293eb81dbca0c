/**
 * A machine with an outside: its namespace is joined to another one, which has servers of its own and no route any
 * further. Nothing can leave the two.
 *
 *     machine (a stub resolver at 127.0.0.53) ── eth0 ── outside: DNS server, web server, registry
 *
 * The machine has a mount namespace, too: there, resolv.conf names the stub resolver.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { siteNames } from "../../../src/cluster/nodes/index.ts";
import { run } from "../../../src/cluster/nodes/machine/command.ts";
import { type Running, start } from "../../support/command.ts";
import { Machine } from "./machine.ts";
import { OUTSIDE } from "./outside-addresses.ts";

const { machine: own, machine6, router, router6, dns, web, web6, registry, mtu } = OUTSIDE;
const support = import.meta.dirname;

export class MachineWithOutside extends Machine {
  #mounts: Running | undefined;
  #servers: Running | undefined;
  #stub: Running | undefined;

  static override async create(): Promise<MachineWithOutside> {
    const machine = new MachineWithOutside();
    await machine.makeNamespace();
    await machine.#join().catch(async (error: unknown) => {
      await machine[Symbol.asyncDispose]();
      throw error;
    });
    machine.home.env.K8TS_OUTSIDE = "on";
    return machine;
  }

  protected override get entering(): readonly string[] {
    const pid = this.#mounts?.process.pid;
    // Without --wd a program that enters a mount namespace starts in its root, and leaves its files there.
    const mounts = [`--mount=/proc/${pid}/ns/mnt`, `--wd=${this.home.dir}`];
    return [...super.entering, ...(pid === undefined ? [] : mounts)];
  }

  /** The authority of the private registries. */
  get caFile(): string {
    return join(this.home.dir, "outside-ca.pem");
  }

  get outside(): string {
    return `${this.namespace}-out`;
  }

  /** A program's output in the machine. Throws if it fails. */
  async in(program: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.start(program, ...args).ended();
    if (code !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** The same outside. */
  async out(program: string, ...args: readonly string[]): Promise<string> {
    return run(program, args, { inNamespace: `/run/netns/${this.outside}` });
  }

  /** The same as `leftovers`, seen from the machine's mounts. */
  async leftoversInside(): Promise<string[]> {
    const inside = (await this.in("cat", "/proc/self/mountinfo"))
      .split("\n")
      .map((line) => `mount ${line.split(" ")[4]}`);
    const { nodesDir, id } = siteNames(this.home.dataDir);
    return [...inside.filter((mount) => mount.includes(nodesDir) || mount.includes(id)), ...this.leftovers()];
  }

  /** All that a cluster may change about the network of its machine. */
  async networkState(): Promise<string> {
    const settings = [
      "ipv4/ip_forward",
      "ipv4/conf/all/accept_redirects",
      "ipv4/conf/*/forwarding",
      "ipv6/conf/*/forwarding",
      "ipv6/conf/*/accept_ra",
    ].map((file) => `/proc/sys/net/${file}`);
    const parts = ["nft list ruleset", "ip route", "ip -6 route", "ip -br address", `grep . ${settings.join(" ")}`];
    const found: string[] = [];
    for (const part of parts) found.push(await this.in("sh", "-c", part));
    return found.join("\n");
  }

  get siteId(): string {
    return siteNames(this.home.dataDir).id;
  }

  async #join(): Promise<void> {
    const ip = (...args: string[]) => run("ip", args);
    await ip("netns", "add", this.outside);
    await run("ip", ["-n", this.namespace, "-batch", "-"], {
      input: [
        `link add eth0 mtu ${mtu} type veth peer name eth0 netns ${this.outside}`,
        `address add ${own}/24 dev eth0`,
        `address add ${machine6}/64 dev eth0 nodad`,
        "link set eth0 up",
        "",
      ].join("\n"),
    });
    await run("ip", ["-n", this.outside, "-batch", "-"], {
      input: [
        "link set lo up",
        ...[dns, web, registry].map((address) => `address add ${address}/32 dev lo`),
        `address add ${web6}/128 dev lo nodad`,
        `address add ${router}/24 dev eth0`,
        `address add ${router6}/64 dev eth0 nodad`,
        `link set eth0 mtu ${mtu} up`,
        "",
      ].join("\n"),
    });
    // A route of IPv6 needs links that are up at both ends.
    await run("ip", ["-n", this.namespace, "-batch", "-"], {
      input: `route add default via ${router}\nroute add default via ${router6}\n`,
    });
    const resolvConf = join(this.home.dir, "resolv.conf");
    writeFileSync(resolvConf, "nameserver 127.0.0.53\nsearch corp.outside.test\n");
    const { env, dir } = this.home;
    const script = 'mount --bind "$0" "$(readlink -f /etc/resolv.conf)" && echo ready && exec sleep 100000';
    const unshared = ["--mount", "--propagation", "private", "sh", "-c", script, resolvConf];
    this.#mounts = start("unshare", unshared, { env, cwd: dir });
    await this.#mounts.printed("ready");
    const servers = [
      `--net=/run/netns/${this.outside}`,
      process.execPath,
      join(support, "outside-servers.ts"),
      this.caFile,
    ];
    this.#servers = start("nsenter", servers, { env, cwd: dir });
    this.#stub = this.start(process.execPath, join(support, "stub-resolver.ts"), dns);
    await Promise.all([this.#servers.printed("ready"), this.#stub.printed("ready")]);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.k8ts("down");
    for (const each of [this.#stub, this.#servers, this.#mounts]) await each?.[Symbol.asyncDispose]();
    this.#mounts = undefined;
    await super[Symbol.asyncDispose]();
    await run("ip", ["netns", "delete", this.outside]);
  }
}
