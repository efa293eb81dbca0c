/**
 * Whether the cluster reaches what the machine reaches: images are pulled, and Pods have a way out.
 *
 *     --outside, --no-outside ──► K8TS_OUTSIDE ──► yes
 */
import { Option } from "commander";
import { ClusterError } from "#cluster";

export interface OutsideOptions {
  readonly outside?: boolean;
  readonly pullImages?: boolean;
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
    new Option("--pull-images", "the same as --outside, which is the default").hideHelp(),
  ];
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
