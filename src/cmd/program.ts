/** The table of commands, as `k8ts --help` shows it. */
import { Command } from "commander";
import { K8TS_VERSION, KUBERNETES_VERSION } from "#apiserver";
import { cloudControllerManagerCommand } from "./components/cloud-controller-manager.ts";
import { controllerManagerCommand } from "./components/controller-manager.ts";
import { csiDriverCommand } from "./components/csi-driver.ts";
import { csiSidecarsCommand } from "./components/csi-sidecars.ts";
import { deviceDriverCommand } from "./components/device-driver.ts";
import { dnsCommand } from "./components/dns.ts";
import { etcdCommand } from "./components/etcd.ts";
import { ingressCommand } from "./components/ingress.ts";
import { kubeApiServerCommand } from "./components/kube-apiserver.ts";
import { kubeletCommand } from "./components/kubelet.ts";
import { metricsAdapterCommand } from "./components/metrics-adapter.ts";
import { metricsServerCommand } from "./components/metrics-server.ts";
import { proxyCommand } from "./components/proxy.ts";
import { schedulerCommand } from "./components/scheduler.ts";
import { dashboardCommand } from "./inspect/dashboard.ts";
import { flowCommand } from "./inspect/flow.ts";
import { kubectlCommand } from "./inspect/kubectl.ts";
import { simulateCommand } from "./inspect/simulate.ts";
import { whyCommand } from "./inspect/why/command.ts";
import { doctorCommand } from "./lifecycle/doctor.ts";
import { downCommand } from "./lifecycle/down.ts";
import { joinCommand } from "./lifecycle/join.ts";
import { lsCommand } from "./lifecycle/ls.ts";
import { resetCommand } from "./lifecycle/reset.ts";
import { serveCommand } from "./lifecycle/serve.ts";
import { statusCommand } from "./lifecycle/status.ts";
import { upCommand } from "./lifecycle/up.ts";
import { imageCommand } from "./nodes/image.ts";
import { nodeCommand } from "./nodes/node.ts";
import { publishCommand, unpublishCommand } from "./nodes/publish.ts";
import { registryCommand } from "./nodes/registry.ts";
import { tokenCommand } from "./nodes/token.ts";
import { takeClusterNames } from "./options/which-cluster.ts";
import { completeCommand, completionCommand } from "./process/completion.ts";
import { fitHelp, helpCommand } from "./process/help.ts";
import { atCommand } from "./state/at.ts";
import { diffCommand } from "./state/diff.ts";
import { restoreCommand } from "./state/restore.ts";
import { snapshotCommand } from "./state/snapshot.ts";

/** By command name. */
export const COMMANDS: Readonly<Record<string, () => Command>> = {
  up: upCommand,
  join: joinCommand,
  down: downCommand,
  status: statusCommand,
  ls: lsCommand,
  doctor: doctorCommand,
  completion: completionCommand,
  node: nodeCommand,
  token: tokenCommand,
  image: imageCommand,
  registry: registryCommand,
  publish: publishCommand,
  unpublish: unpublishCommand,
  reset: resetCommand,
  serve: serveCommand,
  snapshot: snapshotCommand,
  restore: restoreCommand,
  "kube-apiserver": kubeApiServerCommand,
  etcd: etcdCommand,
  "controller-manager": controllerManagerCommand,
  "cloud-controller-manager": cloudControllerManagerCommand,
  scheduler: schedulerCommand,
  kubelet: () => kubeletCommand(() => import("./components/host-kubelet.ts")),
  proxy: proxyCommand,
  dns: dnsCommand,
  ingress: ingressCommand,
  "metrics-server": metricsServerCommand,
  "metrics-adapter": metricsAdapterCommand,
  "csi-driver": csiDriverCommand,
  "csi-sidecars": csiSidecarsCommand,
  "device-driver": deviceDriverCommand,
  kubectl: kubectlCommand,
  flow: flowCommand,
  why: whyCommand,
  at: atCommand,
  diff: diffCommand,
  dashboard: dashboardCommand,
  simulate: simulateCommand,
};

/** `asked`: the first argument. Only that command is described: describing all of them would delay its start. */
export function program(asked?: string): Command {
  const { major, minor, patch } = KUBERNETES_VERSION;
  const root = new Command("k8ts")
    .description("A complete Kubernetes from one command.")
    // Options after `k8ts kubectl` are kubectl's.
    .enablePositionalOptions()
    // Its own, which knows subcommands.
    .helpCommand(false)
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
  if (only === undefined) {
    root.addCommand(inherit(helpCommand(root), root));
    root.addCommand(inherit(completeCommand(root), root), { hidden: true });
  }
  return root.exitOverride();
}

function inherit(command: Command, root: Command): Command {
  takeClusterNames(command);
  const fit = command.copyInheritedSettings(root).exitOverride();
  fitHelp(fit);
  return fit;
}
