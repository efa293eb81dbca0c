import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { kubeletReachFrom, kubeletReachOptions } from "./kubelet-connection.ts";

function configured(...args: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of kubeletReachOptions()) command.addOption(option);
  command.parse(args, { from: "user" });
  return kubeletReachFrom(command.opts());
}

describe("flags about kubelets", () => {
  it.each([
    { args: [], want: {} },
    { args: ["--kubelet-certificate-authority=ca.crt"], want: { certificateAuthority: "ca.crt" } },
    {
      args: ["--kubelet-client-certificate=a.crt", "--kubelet-client-key=a.key"],
      want: { client: { certFile: "a.crt", keyFile: "a.key" } },
    },
    {
      args: ["--kubelet-preferred-address-types=InternalIP,Hostname", "--kubelet-timeout=5s"],
      want: { addressTypes: ["InternalIP", "Hostname"], timeoutMs: 5000 },
    },
    { args: ["--kubelet-port=10350"], want: { port: 10350 } },
  ])("$args", ({ args, want }) => expect(configured(...args)).toEqual(want));

  it.each([
    { args: ["--kubelet-client-key=a.key"], problem: "belong together" },
    { args: ["--kubelet-preferred-address-types=Somewhere"], problem: "Somewhere is not one of Hostname" },
  ])("$args is refused", ({ args, problem }) => expect(() => configured(...args)).toThrow(problem));
});
