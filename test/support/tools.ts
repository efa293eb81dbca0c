/** The clients that users have, kubectl and Helm, driven against one cluster that lives as long as a test file. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Result, type Running, run, start } from "./command.ts";
import { Home } from "./k8ts.ts";

const installed = join(import.meta.dirname, "..", "..", ".tools", "kubectl");

/** The versions that tests know the words of. */
const known = {
  kubectl: { ask: ["version", "--client"], answer: /v1\.36\./ },
  helm: { ask: ["version", "--short"], answer: /^v4\./ },
};

/** Where the program is: what the set-up has installed, else the machine's own if it is of the same version. */
export function tool(name: "kubectl" | "helm"): string | undefined {
  const own = join(installed, name);
  if (existsSync(own)) return own;
  const found = toolOnPath(name);
  const { ask, answer } = known[name];
  return found !== undefined && answer.test(spawnSync(found, ask, { encoding: "utf8" }).stdout) ? found : undefined;
}

export function toolOnPath(name: string): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((dir) => join(dir, name))
    .find((file) => existsSync(file));
}

/** A cluster for the tests of a file, started with these flags besides its own. */
export function clusterForFile(...flags: readonly string[]): () => Home {
  let home: Home | undefined;
  beforeAll(async () => {
    home = new Home();
    const up = await home.k8ts("up", "--store", "memory", "--port", "0", "--nodes", "0", "--detach", ...flags);
    if (up.code !== 0) throw new Error(up.stderr);
  });
  afterAll(() => home?.[Symbol.asyncDispose]());
  return () => {
    if (home === undefined) throw new Error("the cluster runs only while tests do");
    return home;
  };
}

/** A program on the command line of that cluster's admin. */
export class CommandLine {
  readonly #program: string;
  readonly #home: () => Home;
  readonly #input: string | undefined;
  readonly #extraEnv: NodeJS.ProcessEnv;

  constructor(program: string | undefined, home: () => Home, input?: string, extraEnv: NodeJS.ProcessEnv = {}) {
    // Without a program the tests are skipped: it is never run.
    this.#program = program ?? "missing";
    this.#home = home;
    this.#input = input;
    this.#extraEnv = extraEnv;
  }

  /** With objects on its standard input, for `-f -`. */
  given(...objects: readonly object[]): CommandLine {
    const input = objects.map((object) => JSON.stringify(object)).join("\n---\n");
    return new CommandLine(this.#program, this.#home, input, this.#extraEnv);
  }

  env(extraEnv: NodeJS.ProcessEnv): CommandLine {
    return new CommandLine(this.#program, this.#home, this.#input, extraEnv);
  }

  start(...args: string[]): Running {
    return start(this.#program, args, this.#options());
  }

  run(...args: string[]): Promise<Result> {
    return run(this.#program, args, this.#options());
  }

  /** What it prints where it succeeds. */
  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    if (code !== 0) throw new Error(`${args.join(" ")}: exit code ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** What it says where it fails. */
  async fails(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    if (code === 0) throw new Error(`${args.join(" ")}: should have failed: ${stderr}${stdout}`);
    return stderr;
  }

  /** The object or list that it prints as JSON. */
  async json(...args: string[]): Promise<unknown> {
    return JSON.parse(await this.ok(...args, "-o", "json"));
  }

  #options() {
    const home = this.#home();
    return { env: { ...home.env, ...this.#extraEnv }, cwd: home.dir, input: this.#input };
  }
}
