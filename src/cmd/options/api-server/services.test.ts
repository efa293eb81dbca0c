import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { serviceOptions, servicesFrom } from "./services.ts";

function parsed(...args: readonly string[]) {
  const command = new Command("x").exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of serviceOptions()) command.addOption(option);
  return servicesFrom(command.parse(args, { from: "user" }).opts());
}

describe("flags about Services", () => {
  it.each([
    { range: undefined, first: 30_000, last: 32_767 },
    { range: "", first: 30_000, last: 32_767 },
    { range: "20000-20010", first: 20_000, last: 20_010 },
    { range: "20000+10", first: 20_000, last: 20_010 },
    { range: " 8080 ", first: 8_080, last: 8_080 },
  ])("node ports from $range", ({ range, first, last }) => {
    const { nodePorts } = parsed(...(range === undefined ? [] : [`--service-node-port-range=${range}`]));
    expect(nodePorts).toEqual({ first, last });
  });

  it("have the defaults of Kubernetes, and take what is given", () => {
    expect(parsed()).toMatchObject({ kubernetesNodePort: 0, endpointReconciler: "lease", serverCount: 1 });
    expect(
      parsed("--kubernetes-service-node-port=30443", "--endpoint-reconciler-type=master-count", "--apiserver-count=3"),
    ).toMatchObject({ kubernetesNodePort: 30_443, endpointReconciler: "master-count", serverCount: 3 });
  });

  it.each([
    { args: ["--service-node-port-range=1-2+3"], why: "unable to parse port range: 1-2+3" },
    { args: ["--service-node-port-range=a-b"], why: 'strconv.Atoi: parsing "a": invalid syntax' },
    { args: ["--service-node-port-range=1-2-3"], why: 'strconv.Atoi: parsing "2-3": invalid syntax' },
    { args: ["--service-node-port-range=1-70000"], why: "the port range cannot be greater than 65535: 1-70000" },
    { args: ["--service-node-port-range=20-10"], why: "end port cannot be less than start port: 20-10" },
    {
      args: ["--kubernetes-service-node-port=70000"],
      why: "--kubernetes-service-node-port 70000 must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP",
    },
    {
      args: ["--service-node-port-range=20000-20010", "--kubernetes-service-node-port=30443"],
      why: "kubernetes service port range 20000-20010 doesn't contain 30443",
    },
    { args: ["--apiserver-count=0"], why: "--apiserver-count should be a positive number, but value '0' provided" },
    { args: ["--endpoint-reconciler-type=raft"], why: "endpoint reconciler not implemented: raft" },
  ])("refuses $args", ({ args, why }) => {
    expect(() => parsed(...args)).toThrow(why);
  });
});
