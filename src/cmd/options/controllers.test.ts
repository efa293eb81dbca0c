import { describe, expect, it } from "vitest";
import { controllerNames } from "./controllers.ts";

describe("--controllers", () => {
  it.each([
    { value: "*", want: ["*"] },
    { value: "*,-deployment-controller", want: ["*", "-deployment-controller"] },
    {
      value: "*, bootstrapsigner,tokencleaner",
      want: ["*", "bootstrap-signer-controller", "token-cleaner-controller"],
    },
    { value: "-csrsigning", want: ["-certificatesigningrequest-signing-controller"] },
    { value: "-*", want: ["-*"] },
    { value: "", want: [] },
  ])('"$value"', ({ value, want }) => {
    expect(controllerNames(value)).toEqual(want);
  });
});
