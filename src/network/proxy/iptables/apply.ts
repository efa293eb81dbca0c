/**
 * Applies virtual addresses with iptables: everything first, then differences.
 *
 * 1. Rules of others are never touched: only chains with our prefix, and one rule in each built-in chain that jumps to
 *    them.
 * 2. A refused difference means that the tables are not as expected: all chains are rewritten.
 */
import type { Logger } from "#base";
import { type Family, familyOf } from "../../kernel/ip-family.ts";
import { type Program, ProgramError } from "../../kernel/program.ts";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { HOOKS } from "./chains.ts";
import { IptablesState } from "./changes.ts";

export interface IptablesOptions {
  readonly families: readonly Family[];
  readonly podCidrs: readonly string[];
  readonly run: Program;
  readonly log: Logger;
}

/** Seconds to wait for the xtables lock. */
const LOCK_WAIT = ["-w", "5"];

export class Iptables {
  readonly #options: IptablesOptions;
  readonly #states: ReadonlyMap<Family, IptablesState>;
  #isWhole = false;

  constructor(options: IptablesOptions) {
    this.#options = options;
    this.#states = new Map(
      options.families.map((family) => [
        family,
        new IptablesState(
          family,
          options.podCidrs.filter((cidr) => familyOf(cidr) === family),
        ),
      ]),
    );
  }

  async apply(services: ReadonlyMap<string, readonly VirtualAddress[]>, signal: AbortSignal): Promise<void> {
    const scripts = [...this.#states].map(([family, state]) => [family, state.change(services)] as const);
    if (!this.#isWhole) return this.resync(signal);
    try {
      for (const [family, script] of scripts) if (script !== "") await this.#restore(family, script, signal);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      this.#options.log.warn("the proxy's chains are not as expected and are rewritten", { error });
      await this.resync(signal);
    }
  }

  async resync(signal: AbortSignal): Promise<void> {
    this.#isWhole = false;
    for (const [family, state] of this.#states) {
      const saved = await this.#options.run(`${commandOf(family)}-save`, ["-t", "nat"], "", signal);
      const present = saved.matchAll(/^:(\S+)/gm).map(([, name = ""]) => name);
      await this.#restore(family, state.whole(present), signal);
      await this.#hook(family, signal);
    }
    this.#isWhole = true;
  }

  async remove(signal: AbortSignal): Promise<void> {
    const { run } = this.#options;
    this.#isWhole = false;
    for (const family of this.#states.keys()) {
      for (const table of ["nat", "filter"] as const) {
        const saved = await run(`${commandOf(family)}-save`, ["-t", table], "", signal);
        const chains = saved
          .matchAll(/^:(K8TS-\S+)/gm)
          .map(([, name = ""]) => name)
          .toArray();
        const hooks = saved.matchAll(/^-A ((?!K8TS-)\S+ .*-j K8TS-.*)$/gm).map(([, rule = ""]) => `-D ${rule}`);
        const empty = chains.map((name) => `:${name} - [0:0]`);
        const script = [`*${table}`, ...empty, ...hooks, ...chains.map((name) => `-X ${name}`), "COMMIT", ""];
        if (chains.length > 0) await this.#restore(family, script.join("\n"), signal);
      }
    }
  }

  #restore(family: Family, script: string, signal: AbortSignal): Promise<string> {
    return this.#options.run(`${commandOf(family)}-restore`, [...LOCK_WAIT, "--noflush"], script, signal);
  }

  /** Inserts our rules first, unless they exist. */
  async #hook(family: Family, signal: AbortSignal): Promise<void> {
    const { run } = this.#options;
    for (const { table, chain, rule } of HOOKS) {
      const call = (...verb: string[]) =>
        run(commandOf(family), [...LOCK_WAIT, "-t", table, ...verb, ...rule], "", signal);
      try {
        await call("-C", chain);
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        await call("-I", chain, "1");
      }
    }
  }
}

function commandOf(family: Family): string {
  return family === "IPv4" ? "iptables" : "ip6tables";
}
