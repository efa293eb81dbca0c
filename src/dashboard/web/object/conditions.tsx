/** An object's conditions, as it reports them. */
import type { core } from "#api";
import type { Tone } from "../model/pod.ts";
import { Age, State } from "../parts/state.tsx";

/** Conditions that are bad when they are true. */
const ALARMS = /Pressure|Unavailable|Failure|Failed|Disruption|Stalled|ReplicaFailure/;

export function Conditions({ conditions }: { readonly conditions: readonly core.PodCondition[] }) {
  if (conditions.length === 0) return null;
  return (
    <>
      <h2>Conditions</h2>
      <table class="plain">
        <thead>
          <tr>
            <th>Condition</th>
            <th>Status</th>
            <th class="wide">Reason</th>
            <th class="wide">Message</th>
            <th class="num">Since</th>
          </tr>
        </thead>
        <tbody>
          {conditions.map(({ type = "", status = "", reason, message, lastTransitionTime }) => (
            <tr key={type}>
              <td>
                {type}
                {toneOf(type, status) === "bad" && <span class="narrow dim">{message ?? reason}</span>}
              </td>
              <td>
                <State tone={toneOf(type, status)} words={status} />
              </td>
              <td class="wide">{reason}</td>
              <td class="wide dim">{message}</td>
              <td class="num">
                <Age since={lastTransitionTime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function toneOf(type: string, status: string): Tone {
  if (status !== "True" && status !== "False") return "busy";
  return (status === "True") === ALARMS.test(type) ? "bad" : ALARMS.test(type) ? "quiet" : "good";
}
