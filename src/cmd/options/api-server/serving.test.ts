import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { notesOnServing, servingFrom, servingOptions } from "./serving.ts";

function parsed(...args: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of servingOptions()) command.addOption(option);
  command.parse(args, { from: "user" });
  return command.opts();
}

const configured = (...args: readonly string[]) => servingFrom(parsed(...args));

describe("flags about connections", () => {
  it.each([
    { args: [], want: { tls: {}, http2: {} } },
    { args: ["--tls-min-version=VersionTLS13"], want: { tls: { minVersion: "VersionTLS13" } } },
    { args: ["--tls-cipher-suites=A,B", "--tls-cipher-suites", "C"], want: { tls: { cipherSuites: ["A", "B", "C"] } } },
    { args: ["--tls-curve-preferences=29,23"], want: { tls: { curves: [29, 23] } } },
    {
      args: ["--tls-sni-cert-key=a.crt, a.key", "--tls-sni-cert-key=b.crt,b.key: *.b.test,::1"],
      want: {
        namedCertificates: [
          { certFile: "a.crt", keyFile: "a.key", names: [] },
          { certFile: "b.crt", keyFile: "b.key", names: ["*.b.test", "::1"] },
        ],
      },
    },
    { args: ["--http2-max-streams-per-connection=0"], want: { http2: { maxStreams: 100 } } },
    { args: ["--http2-max-streams-per-connection=250"], want: { http2: { maxStreams: 250 } } },
    { args: ["--disable-http2-serving"], want: { http2: { disabled: true } } },
    { args: ["--goaway-chance=.001", "--permit-port-sharing=true"], want: { goawayChance: 0.001, sharedPort: true } },
  ])("$args", ({ args, want }) => expect(configured(...args)).toMatchObject(want));

  it.each([
    { args: ["--goaway-chance=0.03"], problem: "--goaway-chance can not be less than 0 or greater than 0.02" },
    { args: ["--goaway-chance=-1"], problem: "--goaway-chance can not be less than 0 or greater than 0.02" },
    { args: ["--goaway-chance=often"], problem: "It must be a number." },
    { args: ["--tls-sni-cert-key=a.crt"], problem: "expected comma separated certificate and key file paths" },
    { args: ["--tls-sni-cert-key=a.crt,a.key:"], problem: "empty names list is not allowed" },
    { args: ["--tls-curve-preferences=X25519"], problem: '"X25519" is not a number.' },
    { args: ["--http2-max-streams-per-connection=-1"], problem: "It must be a whole number" },
  ])("$args is refused", ({ args, problem }) => expect(() => configured(...args)).toThrow(problem));

  it("says what has no effect", () => {
    expect(notesOnServing(parsed("--permit-address-sharing=false"))).toHaveLength(1);
    expect(notesOnServing(parsed("--permit-address-sharing"))).toEqual([]);
  });
});
