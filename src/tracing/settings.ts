/** What a TracingConfiguration and a KubeletConfiguration say about traces, checked with Kubernetes' words. */
import { endpointProblem } from "./endpoint.ts";

/** A TracingConfiguration. */
export interface TracingSettings {
  /** Default: localhost:4317. */
  readonly endpoint?: string | undefined;
  /** Of the traces that begin here. Default: 0, only traces that others have begun. */
  readonly samplingRatePerMillion?: number | undefined;
}

const MILLION = 1_000_000;
const FIELDS = ["endpoint", "samplingRatePerMillion"];

/** Throws Error with the reasons. `at`: the path of the object, with a dot: `tracing.`. */
export function readTracingSettings(value: Readonly<Record<string, unknown>>, at = ""): TracingSettings {
  const { endpoint, samplingRatePerMillion: rate } = value;
  const problems = Object.keys(value).flatMap((name) =>
    FIELDS.includes(name) ? [] : [`unknown field "${at}${name}"`],
  );
  const invalid = (name: string, why: string) =>
    problems.push(`${at}${name}: Invalid value: ${JSON.stringify(value[name])}: ${why}`);
  if (isGiven(rate)) {
    if (typeof rate !== "number" || !Number.isInteger(rate)) invalid("samplingRatePerMillion", "must be an integer");
    else if (rate < 0) invalid("samplingRatePerMillion", "sampling rate must be positive");
    else if (rate > MILLION)
      invalid("samplingRatePerMillion", "sampling rate per million must be less than or equal to one million");
  }
  if (isGiven(endpoint)) {
    const problem = typeof endpoint === "string" ? endpointProblem(endpoint) : "must be a string";
    if (problem !== undefined) invalid("endpoint", problem);
  }
  if (problems.length > 0) throw new Error(problems.join(", "));
  return {
    ...(typeof endpoint === "string" && { endpoint }),
    ...(typeof rate === "number" && { samplingRatePerMillion: rate }),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
