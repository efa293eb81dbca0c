import { describe, expect, it } from "vitest";
import { EnvFileError, parseEnvFile } from "./env-file.ts";

describe("files of environment variables", () => {
  it.each([
    { text: "", want: {} },
    { text: "A='1'", want: { A: "1" } },
    { text: "# what follows\n\n  A='1' # one\nB=two \n", want: { A: "1", B: "two" } },
    { text: "A='say \"$B\" # and\nmore'\nB=''\n", want: { A: 'say "$B" # and\nmore', B: "" } },
    { text: "A='1'\nA='2'", want: { A: "2" } },
  ])("$text", ({ text, want }) => expect(Object.fromEntries(parseEnvFile(text))).toEqual(want));

  it.each([
    { text: "A='1'\nno", problem: "line 2 is no NAME='value'" },
    { text: "=1", problem: "line 1 is no NAME='value'" },
    { text: "A='1\n2\n", problem: "line 1: the quote is not closed" },
    { text: "A='1\n2'\nB='1'2", problem: "line 3: nothing but a comment" },
  ])("$text is refused", ({ text, problem }) => {
    expect(() => parseEnvFile(text)).toThrow(EnvFileError);
    expect(() => parseEnvFile(text)).toThrow(problem);
  });
});
