/** Opens a port of this machine that leads to a Pod or a Service. */
import { useSignal } from "@preact/signals";
import { wordsOf } from "../api/request.ts";
import { Dialog } from "../parts/dialog.tsx";
import type { ObjectPlace } from "../route.ts";
import { addressOf, type Forward, type KnownPort, openForward } from "./forwards.ts";

interface Props {
  readonly place: ObjectPlace;
  readonly ports: readonly KnownPort[];
}

export function ForwardButton(props: Props) {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Forward
      </button>
      {isOpen.value && (
        <ForwardDialog
          {...props}
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

function ForwardDialog({ place, ports, onClose }: Props & { readonly onClose: () => void }) {
  const port = useSignal(String(ports[0]?.port ?? ""));
  const localPort = useSignal("");
  const failure = useSignal("");
  const opened = useSignal<Forward | undefined>(undefined);
  const isBusy = useSignal(false);
  const open = async () => {
    isBusy.value = true;
    failure.value = "";
    try {
      opened.value = await openForward(place, Number(port.value), Number(localPort.value));
    } catch (error) {
      failure.value = wordsOf(error);
    }
    isBusy.value = false;
  };
  const label = `Forward a port of ${place.name}`;
  const { value: forward } = opened;
  return (
    <Dialog label={label} onClose={onClose}>
      <h2>{label}</h2>
      <p class="dim">
        A port of this machine, on loopback only, leads to{" "}
        {place.plural === "pods" ? "the Pod" : "a Pod of the Service"}. It is open until it is closed on the page{" "}
        <a href="#/forwards">Forwards</a>, or the dashboard ends.
      </p>
      {forward === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void open();
          }}
        >
          {place.plural === "pods" ? <PodPort port={port} ports={ports} /> : <ServicePort port={port} ports={ports} />}
          <label class="field">
            Port of this machine
            <input
              inputMode="numeric"
              placeholder="a free one"
              value={localPort.value}
              onInput={({ currentTarget }) => {
                localPort.value = currentTarget.value.trim();
              }}
            />
          </label>
          {failure.value !== "" && (
            <p class="notice" role="alert">
              {failure.value}
            </p>
          )}
          <div class="tools end">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={isBusy.value}>
              Open
            </button>
          </div>
        </form>
      ) : (
        <>
          <p role="status">
            Open:{" "}
            <a class="address" href={addressOf(forward)} target="_blank" rel="noreferrer">
              {addressOf(forward)}
            </a>
          </p>
          <div class="tools end">
            <button type="button" class="primary" onClick={onClose}>
              Close
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

interface PortProps {
  readonly port: { value: string };
  readonly ports: readonly KnownPort[];
}

/** Containers may listen on ports that they do not name. */
function PodPort({ port, ports }: PortProps) {
  return (
    <label class="field">
      Port of the Pod
      <input
        inputMode="numeric"
        list="known-ports"
        required
        value={port.value}
        onInput={({ currentTarget }) => {
          port.value = currentTarget.value.trim();
        }}
      />
      <datalist id="known-ports">
        {ports.map((each) => (
          <option key={wordsOfPort(each)} value={each.port}>
            {wordsOfPort(each)}
          </option>
        ))}
      </datalist>
    </label>
  );
}

function ServicePort({ port, ports }: PortProps) {
  return (
    <label class="field">
      Port of the Service
      <select
        value={port.value}
        onChange={({ currentTarget }) => {
          port.value = currentTarget.value;
        }}
      >
        {ports.map((each) => (
          <option key={wordsOfPort(each)} value={each.port}>
            {wordsOfPort(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function wordsOfPort({ port, name }: KnownPort): string {
  return name === "" ? `${port}` : `${port} (${name})`;
}
