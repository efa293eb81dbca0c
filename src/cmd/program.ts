/** The table of commands, as `k8ts --help` shows it. */
import { Command } from "commander";
import { K8TS_VERSION, KUBERNETES_VERSION } from "#apiserver";
import { cloudControllerManagerCommand } from "./cloud-controller-manager.ts";
import { controllerManagerCommand } from "./controller-manager.ts";
import { dashboardCommand } from "./dashboard.ts";
import { dnsCommand } from "./dns.ts";
import { downCommand } from "./down.ts";
import { flowCommand } from "./flow.ts";
import { imageCommand } from "./image.ts";
import { ingressCommand } from "./ingress.ts";
import { kubeApiServerCommand } from "./kube-apiserver.ts";
import { kubectlCommand } from "./kubectl.ts";
import { kubeletCommand } from "./kubelet.ts";
import { nodeCommand } from "./node.ts";
import { atCommand } from "./past/at.ts";
import { diffCommand } from "./past/diff.ts";
import { proxyCommand } from "./proxy.ts";
import { resetCommand } from "./reset.ts";
import { restoreCommand } from "./restore.ts";
import { schedulerCommand } from "./scheduler.ts";
import { snapshotCommand } from "./snapshot.ts";
import { statusCommand } from "./status.ts";
import { upCommand } from "./up.ts";
import { whyCommand } from "./why/command.ts";

/** By the name under which each is asked for. */
export const COMMANDS: Readonly<Record<string, () => Command>> = {
  up: upCommand,
  down: downCommand,
  status: statusCommand,
  node: nodeCommand,
  image: imageCommand,
  reset: resetCommand,
  snapshot: snapshotCommand,
  restore: restoreCommand,
  "kube-apiserver": kubeApiServerCommand,
  "controller-manager": controllerManagerCommand,
  "cloud-controller-manager": cloudControllerManagerCommand,
  scheduler: schedulerCommand,
  kubelet: () => kubeletCommand(() => import("./host-kubelet.ts")),
  proxy: proxyCommand,
  dns: dnsCommand,
  ingress: ingressCommand,
  kubectl: kubectlCommand,
  flow: flowCommand,
  why: whyCommand,
  at: atCommand,
  diff: diffCommand,
  dashboard: dashboardCommand,
};

/** `asked`: the first word of the command line. A command that is asked for comes alone: to describe all the others takes longer than it may. */
export function program(asked?: string): Command {
  const { major, minor, patch } = KUBERNETES_VERSION;
  const root = new Command("k8ts")
    .description("A complete Kubernetes from one command.")
    // What stands behind `k8ts kubectl get` is kubectl's.
    .enablePositionalOptions()
    .version(`k8ts ${K8TS_VERSION} (Kubernetes v${major}.${minor}.${patch})`)
    .configureOutput({
      outputError: (text, write) =>
        write(
          `${text
            .trim()
            .replace(/^error: /, "k8ts: ")
            .replaceAll("\n", " ")}\n`,
        ),
    });
  const only = asked !== undefined && Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined;
  const commands = only === undefined ? Object.values(COMMANDS).map((make) => make()) : [only()];
  for (const command of commands) root.addCommand(inherit(command, root));
  return root.exitOverride();
}

function inherit(command: Command, root: Command): Command {
  return command.copyInheritedSettings(root).exitOverride();
}
