/** A dialog over the page: Esc and its last button close it, and the focus returns to where it was. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface DialogProps {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ label, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={label}>
      {children}
    </dialog>
  );
}
