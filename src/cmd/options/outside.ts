/**
 * Whether the cluster reaches what the machine reaches: images are pulled, and Pods have a way out.
 *
 *     --outside, --no-outside ──► K8TS_OUTSIDE ──► yes
 */
import { InvalidArgumentError, Option } from "commander";
import { ClusterError, type HostPort } from "#cluster";

export interface OutsideOptions {
  readonly outside?: boolean;
  readonly pullImages?: boolean;
  readonly hostPorts?: readonly HostPort[];
}

const VARIABLE = "K8TS_OUTSIDE";
export const PULLS_BY_DEFAULT = "Images are pulled by default now: --pull-images is no longer needed.";

export function outsideOptions(): readonly Option[] {
  return [
    new Option(
      "--outside",
      `let nodes pull images and reach what this machine reaches (default: yes, unless ${VARIABLE} is off)`,
    ),
    new Option("--no-outside", "a closed cluster: images have to be imported, and nothing leaves this machine"),
    new Option(
      "--host-ports <ports>",
      "ports of this machine that Pods of real nodes reach at host.k8ts.internal, such as 5432,5353/udp (default: none)",
    ).argParser(hostPorts),
    new Option("--pull-images", "the same as --outside, which is the default").hideHelp(),
  ];
}

/** `5432`, `5353/udp`. */
function hostPorts(value: string): readonly HostPort[] {
  return value.split(",").map((text) => {
    const [, digits = "", protocol = "tcp"] = /^(\d{1,5})(?:\/(tcp|udp))?$/.exec(text.trim()) ?? [];
    const port = Number(digits);
    if (digits === "" || port < 1 || port > 65_535)
      throw new InvalidArgumentError(`${text} is not a port such as 5432 or 5353/udp.`);
    return { port, protocol: protocol === "udp" ? "udp" : "tcp" };
  });
}

/** A flag decides, else the environment. Throws ClusterError for words that say neither. */
export function outsideFrom({ outside, pullImages }: OutsideOptions, env: NodeJS.ProcessEnv): boolean {
  if (pullImages === true && outside === false)
    throw new ClusterError("--pull-images contradicts --no-outside, which lets no image be pulled.");
  const flag = outside ?? pullImages;
  if (flag !== undefined) return flag;
  const { [VARIABLE]: value = "on" } = env;
  if (value === "off") return false;
  if (value === "on" || value === "") return true;
  throw new ClusterError(`The environment variable ${VARIABLE} must be on or off, not ${JSON.stringify(value)}.`);
}

export function notesOnOutside({ pullImages }: OutsideOptions): readonly string[] {
  return pullImages === true ? [PULLS_BY_DEFAULT] : [];
}
