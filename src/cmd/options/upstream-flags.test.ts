/** Every flag of Kubernetes' components of v1.36 acts here, is refused, or --help says why it has no effect. */
import { describe, expect, it } from "vitest";
import { controllerManagerCommand } from "../components/controller-manager.ts";
import { kubeApiServerCommand } from "../components/kube-apiserver.ts";
import { schedulerCommand } from "../components/scheduler.ts";
import { KUBE_APISERVER, notesOnFlags } from "./upstream-flags.ts";

describe("flags of Kubernetes that are not in the list of options", () => {
  it.each([kubeApiServerCommand(), controllerManagerCommand(), schedulerCommand()])(
    "are in the help of $_name",
    (of) => {
      let help = "";
      of.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const hidden = of.options.filter(({ hidden }) => hidden).map(({ long }) => long ?? "");
      expect(hidden.length).toBeGreaterThan(0);
      expect(hidden.filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(help))).toEqual([]);
      expect(help).not.toContain("No effect.");
    },
  );

  it("are reported with the reason, or refused", () => {
    const given = (flag: string) => {
      const command = kubeApiServerCommand().action(() => {});
      command.parse([flag, "1"], { from: "user" });
      return notesOnFlags(command, KUBE_APISERVER);
    };
    expect(given("--kubelet-read-only-port")).toEqual([
      "--kubelet-read-only-port has no effect in this API server: kubelets are reached through their secure port.",
    ]);
    expect(() => given("--debug-socket-path")).toThrow("--debug-socket-path is not supported by this API server.");
  });
});
