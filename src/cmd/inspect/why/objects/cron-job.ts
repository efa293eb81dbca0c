/** Why a CronJob starts no Job: suspended, a Job still runs and another is forbidden, or its time has not come. */
import type { batch, core } from "#api";
import { ageOf, deeper, forAge, headline, type Reason, type WhyAnswer } from "../answer.ts";

export interface CronJobFacts {
  readonly object: batch.CronJob;
  readonly events: readonly core.Event[];
  /** Of its Jobs, the newest last, each with its own answer. */
  readonly jobs: readonly { readonly job: batch.Job; readonly answer: WhyAnswer }[];
  readonly now: number;
}

export function whyCronJob({ object, events, jobs, now }: CronJobFacts): WhyAnswer {
  const { metadata, spec, status } = object;
  const name = `cronjob/${metadata.name}`;
  const last = status?.lastScheduleTime;
  const ran =
    last === undefined
      ? `has started no Job${forAge(metadata.creationTimestamp, now)}`
      : `started its last Job ${ageOf(Date.parse(last), now)} ago`;
  const what = `${name} ${ran}`;
  if (spec?.suspend === true)
    return {
      what,
      cause: "it is suspended",
      because: [{ text: "it is suspended", evidence: "spec.suspend" }],
      help: [`\`kubectl patch ${name} -p '{"spec":{"suspend":false}}'\``],
    };
  const warning = events.findLast(({ type }) => type === "Warning");
  const warned: Reason[] =
    warning === undefined ? [] : [{ text: warning.message ?? "", evidence: `event ${warning.reason}` }];
  const active = jobs.find(({ job }) => status?.active?.some(({ uid }) => uid === job.metadata.uid));
  if (active !== undefined && spec?.concurrencyPolicy === "Forbid")
    return {
      what,
      cause: `job/${active.job.metadata.name} still runs, and concurrencyPolicy is Forbid`,
      because: [...deeper(active.answer, `job/${active.job.metadata.name}`), ...warned],
      help: [
        ...active.answer.help,
        `end that Job: \`kubectl delete job ${active.job.metadata.name}\`, or allow several: concurrencyPolicy: Allow`,
      ],
    };
  const failed = jobs.findLast(({ job }) =>
    job.status?.conditions?.some(({ type, status: is }) => type === "Failed" && is === "True"),
  );
  if (failed !== undefined && failed === jobs.at(-1))
    return {
      what,
      cause: headline(failed.answer),
      because: [...deeper(failed.answer, `job/${failed.job.metadata.name}`), ...warned],
      help: failed.answer.help,
    };
  const zone = spec?.timeZone === undefined ? "UTC" : spec.timeZone;
  const schedule = { text: `its schedule is ${spec?.schedule}, in ${zone}`, evidence: "spec.schedule" };
  const cause =
    warned[0]?.text ?? (last === undefined ? `its time, ${spec?.schedule} in ${zone}, has not come` : undefined);
  return {
    what,
    cause,
    because: [schedule, ...warned],
    help: last === undefined ? [`\`kubectl create job NAME --from=${name}\` runs it now`] : [],
  };
}
