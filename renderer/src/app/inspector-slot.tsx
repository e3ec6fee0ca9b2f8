import { createContext, type ReactNode, useCallback, useContext, useId, useLayoutEffect, useMemo, useState } from "react";
import { createPortal } from "react-dom";
import { Boundary } from "../ui/status/boundary.tsx";

interface InspectorPlace {
  /** The element for the column's content; null until the column is rendered. */
  readonly host: HTMLElement | null;
  setHost(host: HTMLElement | null): void;
  /** The page whose content the column shows: the last one to claim it. */
  readonly owner: string | undefined;
  /** Claims the column; the returned function releases it. */
  claim(owner: string): () => void;
}
const InspectorContext = createContext<InspectorPlace | undefined>(undefined);

export function InspectorProvider({ children }: { children: ReactNode }) {
  const [host, setHost] = useState<HTMLElement | null>(null);
  const [claims, setClaims] = useState<readonly string[]>([]);
  const claim = useCallback((owner: string) => {
    setClaims((known) => [...known, owner]);
    return () => setClaims((known) => known.filter((other) => other !== owner));
  }, []);
  const owner = claims.at(-1);
  const place = useMemo<InspectorPlace>(() => ({ host, setHost, owner, claim }), [host, owner, claim]);
  return <InspectorContext value={place}>{children}</InspectorContext>;
}

export function useInspectorPlace(): InspectorPlace {
  const place = useContext(InspectorContext);
  if (!place) throw new Error("There is no InspectorProvider above this component.");
  return place;
}

/** Shows its children, about the row `shows`, in the column beside the page while it is mounted and its page is visible. */
export function InspectorSlot({ shows, children }: { readonly shows: number | string; readonly children: ReactNode }) {
  const { host, owner, claim } = useInspectorPlace();
  const id = useId();
  useLayoutEffect(() => claim(id), [claim, id]);
  return host && owner === id
    ? createPortal(
        <Boundary region="inspector" shows={shows}>
          {children}
        </Boundary>,
        host,
      )
    : null;
}
