/** The buttons of what the user may do with an object. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { apps } from "#api";
import { useCollection } from "../api/collection.ts";
import { mayAll, useMay } from "../api/permissions.ts";
import { REPLICA_SETS } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { ForwardButton } from "../forwards/forward-dialog.tsx";
import { forwardNeeds, portsOf } from "../forwards/forwards.ts";
import { type Action, type Actionable, actionsOf } from "../model/actions.ts";
import { revisionsOf, rollBack } from "../model/rollback.ts";
import type { ObjectPlace } from "../route.ts";
import { ActionDialog } from "./action-dialog.tsx";

interface Props {
  readonly place: ObjectPlace;
  readonly object: KubeObject;
}

export function Actions(props: Props) {
  const { group, plural } = props.place;
  return group === "apps" && plural === "deployments" ? <DeploymentActions {...props} /> : <Buttons {...props} />;
}

function DeploymentActions({ place, object }: Props) {
  const sets = useCollection<apps.ReplicaSet & KubeObject>(REPLICA_SETS, place.namespace);
  void sets.version.value;
  const back = rollBack(place, revisionsOf(object.metadata.uid, sets.objects.values()));
  return <Buttons place={place} object={object} more={back === undefined ? [] : [back]} />;
}

function Buttons({ place, object, more = [] }: Props & { readonly more?: readonly Action[] }) {
  const allowed = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useSignal<string | undefined>(undefined);
  const own = useMemo(() => actionsOf(place, object as Actionable), [place, object]);
  // Dangerous ones last.
  const actions = [...own.filter((each) => !each.isDangerous), ...more, ...own.filter((each) => each.isDangerous)];
  const names = actions.map(({ name }) => name).join(" ");
  useEffect(() => {
    const abort = new AbortController();
    for (const { name, needs } of actions)
      mayAll(needs, abort.signal).then(
        (isAllowed) => {
          if (isAllowed && !abort.signal.aborted) allowed.value = new Set([...allowed.peek(), name]);
        },
        // Who may not even ask has no buttons.
        () => undefined,
      );
    return () => abort.abort();
  }, [place, names, allowed]);
  const ports = portsOf(place, object);
  const mayForward = useMay(ports && forwardNeeds(place)).value;
  const shown = actions.filter(({ name }) => allowed.value.has(name));
  const action = shown.find(({ name }) => name === chosen.value);
  if (shown.length === 0 && !mayForward) return null;
  return (
    <div class="tools actions" role="toolbar" aria-label="Actions">
      {ports !== undefined && mayForward && <ForwardButton place={place} ports={ports} />}
      {shown.map(({ name, title, isDangerous }) => (
        <button
          key={name}
          type="button"
          class={isDangerous === true ? "danger" : ""}
          onClick={() => {
            chosen.value = name;
          }}
        >
          {title}
        </button>
      ))}
      {action !== undefined && (
        <ActionDialog
          key={action.name}
          action={action}
          subject={object.metadata.name}
          onClose={() => {
            chosen.value = undefined;
          }}
        />
      )}
    </div>
  );
}
