/** `k8ts token`: bootstrap tokens, by which machines join the cluster. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type core, isStatusError, kinds } from "#api";
import { realClock, systemRandom } from "#base";
import type { ResourceClient } from "#client";
import {
  type BootstrapToken,
  ClusterError,
  DEFAULT_TTL_MS,
  groupProblem,
  joinCommand,
  newToken,
  parseToken,
  readLastStart,
  readToken,
  TOKEN_GROUP,
  TOKEN_NAMESPACE,
  TOKEN_TYPE,
  TOKEN_USAGES,
  type TokenUsage,
  tokenSecret,
  tokenText,
} from "#cluster";
import { withClient } from "../inspect/own-client.ts";
import { runningServer } from "../inspect/running-server.ts";
import { textTable } from "../inspect/text-table.ts";
import { list, millisecondsOrZero } from "../options/values.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { sharedCertificates } from "./share-certificates.ts";

/** After the loss of a leader another one signs: when the lease has expired. */
const SIGNED_MS = 30_000;
const POLL_MS = 100;

interface CreateOptions extends DataDirOption {
  readonly ttl: number;
  readonly usages: readonly TokenUsage[];
  readonly groups: readonly string[];
  readonly description: string;
  readonly printJoinCommand?: boolean;
  readonly controlPlane?: boolean;
}

type Secrets = ResourceClient<core.Secret>;

export function tokenCommand(): Command {
  const command = new Command("token").description("make, list and delete bootstrap tokens, by which machines join");
  command
    .command("create [token]")
    .description("make a token, of this text or a random one, and print it")
    .addOption(
      new Option("--ttl <duration>", "how long it works, such as 2h; 0: forever")
        .argParser(millisecondsOrZero)
        .default(DEFAULT_TTL_MS, "24h"),
    )
    .addOption(
      new Option("--usages <usages>", "what it is for").argParser(usages).default(TOKEN_USAGES, TOKEN_USAGES.join()),
    )
    .addOption(
      new Option("--groups <groups>", "groups of who uses it; each begins with system:bootstrappers:")
        .argParser(groups)
        .default([TOKEN_GROUP], TOKEN_GROUP),
    )
    .option("--description <text>", "what a list says of it", "")
    .option("--print-join-command", "print the whole `k8ts join` for another machine")
    .option("--control-plane", "print the `k8ts join` for another control plane; it works for two hours")
    .addOption(dataDirOption())
    .action(async (text: string | undefined, options: CreateOptions) => {
      // First: a cluster that no control plane can join gets no token.
      const key = options.controlPlane === true ? await sharedCertificates(dataDirOf(options)) : undefined;
      const token = await create(text, options);
      const line = key !== undefined || options.printJoinCommand ? await commandWith(token, options) : token;
      const more = key === undefined ? "" : ` --control-plane --certificate-key ${key}`;
      process.stdout.write(`${line}${more}\n`);
    });
  command
    .command("list")
    .alias("ls")
    .description("list tokens; their secrets are not shown")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addOption(dataDirOption())
    .action((options: DataDirOption & { readonly output: "text" | "json" }) =>
      withSecrets(options, async (secrets) => {
        const { items } = await secrets.list({ fieldSelector: `type=${TOKEN_TYPE}` });
        const tokens = items.flatMap((secret) => readToken(secret) ?? []);
        const shown = tokens.map(({ secret: _, expiresMs, ...rest }) => ({
          ...rest,
          ...(expiresMs !== undefined && { expires: new Date(expiresMs).toISOString() }),
        }));
        process.stdout.write(
          options.output === "json"
            ? `${JSON.stringify(shown, undefined, 2)}\n`
            : tokensTable(tokens, realClock().now()),
        );
      }),
    );
  command
    .command("delete <tokens...>")
    .description("delete tokens: by their ID, or whole")
    .addOption(dataDirOption())
    .action((tokens: readonly string[], options: DataDirOption) =>
      withSecrets(options, async (secrets) => {
        for (const text of tokens) {
          const id = parseToken(text)?.id ?? text;
          if (!/^[a-z0-9]{6}$/.test(id))
            throw new ClusterError(`${text} is no token and no ID of one: such as abcdef.`);
          await secrets.delete(`bootstrap-token-${id}`).catch((error: unknown) => {
            if (!isStatusError(error, "NotFound")) throw error;
            throw new ClusterError(`There is no token ${id}: \`k8ts token list\` lists all.`, { cause: error });
          });
          process.stdout.write(`Token ${id} is deleted.\n`);
        }
      }),
    );
  return command;
}

async function create(text: string | undefined, options: CreateOptions): Promise<string> {
  const chosen = text === undefined ? newToken(systemRandom()) : parseToken(text);
  if (chosen === undefined) throw new ClusterError("A token is of the form abcdef.0123456789abcdef.");
  const { ttl, usages: wanted, groups: all, description } = options;
  const expiresMs = ttl === 0 ? undefined : realClock().now() + ttl;
  const secret = tokenSecret({ ...chosen, usages: wanted, groups: all, description, expiresMs });
  return withSecrets(options, async (secrets) => {
    await secrets.create(secret).catch((error: unknown) => {
      if (!isStatusError(error, "AlreadyExists")) throw error;
      throw new ClusterError(`There is a token ${chosen.id} already: delete it first.`, { cause: error });
    });
    return tokenText(chosen);
  });
}

async function commandWith(token: string, options: CreateOptions): Promise<string> {
  const dir = dataDirOf(options);
  const [{ caPem }, last] = [await runningServer(dir), await readLastStart(dir)];
  if (last?.listen === undefined || caPem === undefined)
    throw new ClusterError(
      "Other machines do not reach this cluster: start it with `k8ts up --listen ADDRESS`. The token is made.",
    );
  await signed(token, options);
  const { address } = last.listen;
  return joinCommand(`${address.includes(":") ? `[${address}]` : address}:${last.port}`, token, caPem);
}

/** A command that is printed works at once: a join finds the token's signature. */
async function signed(token: string, options: DataDirOption & Pick<CreateOptions, "usages">): Promise<void> {
  if (!options.usages.includes("signing")) return;
  const clock = realClock();
  const name = `jws-kubeconfig-${parseToken(token)?.id}`;
  const deadline = clock.monotonic() + SIGNED_MS;
  const isSigned = await withClient(dataDirOf(options), async (client) => {
    const infos = client.of<core.ConfigMap>(kinds.ConfigMap).in("kube-public");
    for (;;) {
      const { data = {} } = await infos.get("cluster-info");
      if (data[name] !== undefined) return true;
      if (clock.monotonic() >= deadline) return false;
      await clock.sleep(POLL_MS);
    }
  });
  if (!isSigned)
    process.stderr.write(
      "No controller manager has signed the token yet: machines can join when one leads (`k8ts status`).\n",
    );
}

function withSecrets<T>(options: DataDirOption, work: (secrets: Secrets) => Promise<T>): Promise<T> {
  return withClient(dataDirOf(options), (client) => work(client.of<core.Secret>(kinds.Secret).in(TOKEN_NAMESPACE)));
}

export function tokensTable(tokens: readonly BootstrapToken[], now: number): string {
  const rows = tokens.map(({ id, expiresMs, usages: uses, groups: all, description }) => [
    id,
    expiresMs === undefined ? "never" : expiresMs <= now ? "expired" : remaining(expiresMs - now),
    uses.join(),
    description || "-",
    all.join() || "-",
  ]);
  return textTable([["ID", "EXPIRES", "USAGES", "DESCRIPTION", "GROUPS"], ...rows]);
}

function remaining(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `in ${minutes}m` : `in ${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

function usages(value: string): readonly TokenUsage[] {
  return list(value).map((name) => {
    const known = TOKEN_USAGES.find((usage) => usage === name);
    if (known === undefined) throw new InvalidArgumentError(`${name} is none: ${TOKEN_USAGES.join(", ")}.`);
    return known;
  });
}

function groups(value: string): readonly string[] {
  const all = list(value);
  const problem = all.map(groupProblem).find((each) => each !== undefined);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return all;
}
