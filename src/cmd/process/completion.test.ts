import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { program } from "../program.ts";
import { completions } from "./completion.ts";

const CLUSTERS = ["default", "dev", "test"];
const complete = (...words: string[]) => completions(program(), words, CLUSTERS);

describe("completion", () => {
  it.each<[readonly string[], readonly string[]]>([
    [["dow"], ["down"]],
    [
      ["node", ""],
      ["ls", "stop", "start", "add", "remove", "drain"],
    ],
    [["node", "a"], ["add"]],
    [["up", "--stor"], ["--store"]],
    [
      ["up", "--store", ""],
      ["embedded", "memory", "etcd"],
    ],
    [
      ["up", "--store", "memory", "--run"],
      ["--runtime", "--runtime-config"],
    ],
    [
      ["down", "d"],
      ["default", "dev"],
    ],
    [["down", "dev", ""], []],
    [["why", "pod/x", "--cluster", "t"], ["test"]],
    [["up", "--kubeconfig", ""], []],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["nothing", "x"], []],
  ])("of %j is %j", (words, want) => {
    expect(complete(...words)).toEqual(want);
  });

  it("of nothing is every command", () => {
    expect(complete("")).toEqual(expect.arrayContaining(["up", "ls", "node", "doctor", "completion"]));
    expect(complete("")).not.toContain("complete");
  });

  it("of bash is a script that bash reads", () => {
    let script = "";
    const root = program("completion");
    const write = process.stdout.write;
    process.stdout.write = ((text: string) => {
      script += text;
      return true;
    }) as typeof write;
    try {
      root.parse(["completion", "bash"], { from: "user" });
    } finally {
      process.stdout.write = write;
    }
    const words = `k8ts() { echo "$@"; }; COMP_WORDS=(k8ts node a); COMP_CWORD=2; _k8ts; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync("bash", ["-c", `${script}\n${words}`], { encoding: "utf8" })).toBe("complete -- node a\n");
  });
});
