/** `k8ts why`: explains an object's state from the API, the scheduler and the flow records. */
import { Command } from "commander";
import { realClock } from "#base";
import { Client, https } from "#client";
import { ClusterError, type DataDir } from "#cluster";
import { type DataDirOption, dataDirOf, dataDirOption } from "../../options/which-cluster.ts";
import { runningServer } from "../running-server.ts";
import { renderAnswer } from "./answer.ts";
import { answerForbidden } from "./forbidden/gather-forbidden.ts";
import { answerWhy } from "./gather.ts";
import { clusterSource } from "./source.ts";

interface WhyOptions extends DataDirOption {
  readonly namespace: string;
}

export function whyCommand(): Command {
  return new Command("why")
    .description("explain why an object is in its state, or why a request is forbidden")
    .argument("<object>", "pod/NAME, deployment/NAME, or any other kind; widgets.example.com/NAME; or forbidden")
    .argument("[request...]", "for forbidden: USER VERB RESOURCE[/NAME]")
    .addOption(dataDirOption())
    .option("-n, --namespace <name>", "namespace of the object", "default")
    .action(async (object: string, request: readonly string[], options: WhyOptions) => {
      const dir = dataDirOf(options);
      const client = await clientOf(dir);
      try {
        const answer =
          object === "forbidden"
            ? await answerForbidden(client, request, options.namespace)
            : await answerWhy(await clusterSource(client, dir), oneObject(object, request), options.namespace);
        process.stdout.write(renderAnswer(answer));
      } finally {
        await client.close();
      }
    });
}

/** `pod/web`, or `pod web` as in kubectl. */
export function oneObject(object: string, more: readonly string[]): string {
  const [name, ...others] = more;
  if (name === undefined) return object;
  if (others.length > 0 || object.includes("/"))
    throw new ClusterError("One object at a time: `k8ts why pod/NAME`, or `k8ts why forbidden USER VERB RESOURCE`.");
  return `${object}/${name}`;
}

export async function clientOf(dir: DataDir): Promise<Client> {
  const clock = realClock();
  const { server, caPem, client = {} } = await runningServer(dir);
  return new Client({ transport: https({ server, caPem, ...client }, { clock }), clock, userAgent: "k8ts-why" });
}
