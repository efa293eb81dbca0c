/** An object's status, spec and other fields, as YAML. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Section, sectionsOf } from "../model/sections.ts";

export function Sections({
  object,
  isSecret,
  isOpen,
}: {
  readonly object: object;
  readonly isSecret: boolean;
  /** Of kinds that the page has no other words for. */
  readonly isOpen: boolean;
}) {
  return (
    <>
      {sectionsOf(object, isSecret).map((section) => (
        <details key={section.title} class="section" open={isOpen}>
          <summary>{section.title}</summary>
          <Yaml section={section} />
        </details>
      ))}
    </>
  );
}

function Yaml({ section: { title, value } }: { readonly section: Section }) {
  const text = useSignal("");
  const written = JSON.stringify(value);
  useEffect(() => {
    let isCurrent = true;
    void import("yaml").then(({ stringify }) => {
      if (isCurrent) text.value = stringify(JSON.parse(written), { lineWidth: 0, sortMapEntries: true });
    });
    return () => {
      isCurrent = false;
    };
  }, [written, text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label={title}>
      <pre>{text.value}</pre>
    </section>
  );
}
