/** Which cluster a command line is about. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { COMMANDS, program } from "../program.ts";
import { type DataDirOption, dataDirOf } from "./which-cluster.ts";

const env = { K8TS_HOME: "/home" };

describe("the directory and the name of a cluster", () => {
  it.each<[string, DataDirOption, string | undefined, NodeJS.ProcessEnv, readonly [string | undefined, string]]>([
    ["none", {}, undefined, env, ["default", "/home"]],
    ["an argument", {}, "dev", env, ["dev", "/home/dev"]],
    ["an option", { cluster: "dev" }, undefined, env, ["dev", "/home/dev"]],
    ["both, the same", { cluster: "dev" }, "dev", env, ["dev", "/home/dev"]],
    ["the default by its name", { cluster: "default" }, undefined, env, ["default", "/home"]],
    ["the environment", {}, undefined, { ...env, K8TS_CLUSTER: "dev" }, ["dev", "/home/dev"]],
    ["an option before the environment", { cluster: "a" }, undefined, { ...env, K8TS_CLUSTER: "b" }, ["a", "/home/a"]],
    ["a directory", { dataDir: "/data" }, undefined, { ...env, K8TS_CLUSTER: "dev" }, [undefined, "/data"]],
    ["the directory of a name", { dataDir: "/home/dev" }, undefined, env, ["dev", "/home/dev"]],
    ["the home directory", { dataDir: "/home" }, undefined, env, ["default", "/home"]],
  ])("%s", (_, options, argument, environment, want) => {
    const { name, path } = dataDirOf(options, argument, environment);
    expect([name, path]).toEqual(want);
  });

  it.each<[DataDirOption, string | undefined, NodeJS.ProcessEnv, string]>([
    [{ cluster: "a" }, "b", env, "b and --cluster a name two clusters: give one."],
    [{ dataDir: "/data" }, "dev", env, "dev and --data-dir /data both say which cluster is meant: give one."],
    [{ cluster: "Dev" }, undefined, env, '"Dev" is not a name for a cluster'],
    [{}, "../x", env, '"../x" is not a name for a cluster'],
    [{}, "nodes", env, '"nodes" is no name for a cluster: a file beside it has it.'],
    [{}, "store-old", env, '"store-old" is no name for a cluster: a file beside it has it.'],
    [{}, undefined, { ...env, K8TS_CLUSTER: "A" }, 'K8TS_CLUSTER: "A" is not a name for a cluster'],
  ])("%j %s is refused", (options, argument, environment, why) => {
    expect(() => dataDirOf(options, argument, environment)).toThrow(why);
  });
});

describe("commands about clusters", () => {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  const has = (command: Command, flag: string) => command.options.some(({ long }) => long === flag);

  it("take the name of one", () => {
    const commands = all(program()).filter((command) => has(command, "--data-dir"));
    expect(commands.length).toBeGreaterThan(15);
    expect(commands.filter((command) => !has(command, "--cluster"))).toEqual([]);
  });

  it.each(["up", "down", "reset", "status"])("%s takes it as an argument, too", (name) => {
    const [argument] = COMMANDS[name]?.().registeredArguments ?? [];
    expect(argument?.name()).toBe("cluster");
  });
});
