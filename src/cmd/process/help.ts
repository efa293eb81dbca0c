/**
 * Help that can be read: long commands show the flags that people use, in groups; `--help-all` shows the rest. The
 * groups are a table for all commands, by the names of flags.
 *
 *     k8ts up --help        the everyday flags        k8ts help node add    a subcommand's own help
 *     k8ts up --help-all    all of them
 */
import { Command, type Option } from "commander";
import { table } from "#base";

/** A command with more flags than this has everyday ones. */
export const LONG = 25;

/** The first that matches. */
const GROUPS: readonly (readonly [heading: string, flags: RegExp])[] = [
  [
    "Nodes:",
    /^--(nodes$|node-(?!port)|runtime$|yes$|no-ingress|no-load|load-balancer|proxy-mode|cluster-cidr|no-storage|outside|no-outside|publish)/,
  ],
  ["Audit:", /^--audit-/],
  ["Logs and metrics:", /^--(v$|vmodule|log|show-hidden-metrics|disabled-metrics|allow-metric|tracing|metrics-bind)/],
  ["etcd:", /^--(etcd|storage|watch-cache|default-watch|delete-collection|enable-garbage)/],
  [
    "Authentication:",
    /^--(token-auth|client-ca|anonymous|enable-bootstrap|service-account|api-aud|authentication|oidc|requestheader)/,
  ],
  ["Authorization and admission:", /^--(authorization|.*admission|encryption|allow-privileged)/],
  ["Leader election:", /^--leader-elect/],
  ["Kubelets:", /^--kubelet/],
  ["Features and APIs:", /^--(feature-gates|emulated|min-compat|runtime-config|history-window|flow-records|event-ttl)/],
  [
    "Components:",
    /^--(controllers|scheduler|no-scheduler|metrics-server|metric-resolution|horizontal-pod|concurrent-horizontal|no-metrics-server|dashboard|no-dashboard)/,
  ],
  [
    "Connections:",
    /^--(tls|http2|disable-http2|goaway|permit|request-timeout|min-request|cors|strict-tr|external-host|max-|enable-priority|bind|secure-port|port$|service-cluster|service-node|cert-dir|shutdown|livez)/,
  ],
];

const words = (text: string) => new Set(text.trim().split(/\s+/));

/** Of each long command: the flags that `--help` shows. */
const EVERYDAY: Readonly<Record<string, ReadonlySet<string>>> = table({
  up: words(`--detach --config --store --data-dir --cluster --port --kubeconfig --systemd
    --nodes --runtime --node-cpu --node-memory --node-zones --node-mount --yes --no-outside --publish
    --feature-gates --runtime-config --token-auth-file --audit-policy-file --dashboard-port --no-dashboard`),
  "kube-apiserver":
    words(`--etcd-servers --etcd-cafile --etcd-certfile --etcd-keyfile --bind-address --secure-port --advertise-address
    --cert-dir --tls-cert-file --tls-private-key-file --client-ca-file --service-cluster-ip-range --authorization-mode
    --service-account-issuer --service-account-key-file --service-account-signing-key-file --token-auth-file
    --enable-admission-plugins --audit-policy-file --feature-gates --runtime-config -v`),
  "controller-manager":
    words(`--kubeconfig --controllers --root-ca-file --cluster-signing-cert-file --cluster-signing-key-file
    --service-account-private-key-file --use-service-account-credentials --leader-elect --allocate-node-cidrs --cluster-cidr
    --service-cluster-ip-range --bind-address --secure-port --feature-gates -v`),
  "cloud-controller-manager": words("--kubeconfig --bind-address --secure-port --leader-elect --feature-gates -v"),
  scheduler: words("--config --kubeconfig --bind-address --secure-port --leader-elect --feature-gates -v"),
  kubelet:
    words(`--kubeconfig --bootstrap-kubeconfig --config --hostname-override --node-ip --container-runtime-endpoint --root-dir
    --cluster-dns --node-labels --register-with-taints --max-pods --feature-gates -v`),
  ingress: words("--kubeconfig --feature-gates -v"),
  proxy: words(`--kubeconfig --hostname-override --proxy-mode --cluster-cidr --network-policy --overlay --cluster-dns
    --metrics-bind-address --healthz-bind-address --feature-gates -v`),
  "csi-sidecars": words("--kubeconfig --leader-elect --feature-gates -v"),
});

/** Groups the flags of a long command, and leaves those that few people use to `--help-all`. */
export function fitHelp(command: Command): void {
  for (const each of command.commands) fitHelp(each);
  const visible = command.options.filter(({ hidden }) => !hidden);
  if (visible.length <= LONG) return;
  for (const option of visible) option.helpGroup(groupOf(option));
  const everyday = EVERYDAY[command.name()];
  if (everyday === undefined) return;
  let all = false;
  const isShown = (option: Option) => all || everyday.has(option.long ?? "") || everyday.has(option.short ?? "");
  command
    .helpOption("-h, --help", "show the flags that people use")
    .addHelpText("after", () => (all ? "" : `\n--help-all shows all ${visible.length} flags.`))
    .configureHelp({
      ...command.configureHelp(),
      visibleOptions: ({ options }) => options.filter((option) => !option.hidden && isShown(option)),
    })
    .on("option:help-all", () => {
      all = true;
      command.help();
    });
  command.addOption(command.createOption("--help-all", "show all flags").hideHelp());
}

function groupOf({ long = "" }: Option): string {
  return GROUPS.find(([, flags]) => flags.test(long))?.[0] ?? "Options:";
}

/** `help node add` shows the help of `node add`. */
export function helpCommand(root: Command): Command {
  return new Command("help")
    .description("show the help of a command")
    .argument("[command...]", "such as up, or node add")
    .action((path: readonly string[]) => {
      let command = root;
      for (const name of path) {
        const found = command.commands.find((each) => each.name() === name);
        if (found === undefined) return command.error(`error: unknown command '${path.join(" ")}'`);
        command = found;
      }
      command.help();
    });
}
