import { createContext, type ReactNode, useCallback, useContext, useLayoutEffect, useMemo, useState } from "react";
import { createPortal } from "react-dom";

interface InspectorPlace {
  /** Where the column's content goes; null until the column is drawn. */
  readonly host: HTMLElement | null;
  setHost(host: HTMLElement | null): void;
  /** Whether a page wants the column. */
  readonly wanted: boolean;
  /** Asks for the column; the result gives it back. */
  claim(): () => void;
}
const InspectorContext = createContext<InspectorPlace | undefined>(undefined);

export function InspectorProvider({ children }: { children: ReactNode }) {
  const [host, setHost] = useState<HTMLElement | null>(null);
  const [claims, setClaims] = useState(0);
  const claim = useCallback(() => {
    setClaims((count) => count + 1);
    return () => setClaims((count) => count - 1);
  }, []);
  const wanted = claims > 0;
  const place = useMemo<InspectorPlace>(() => ({ host, setHost, wanted, claim }), [host, wanted, claim]);
  return <InspectorContext value={place}>{children}</InspectorContext>;
}

export function useInspectorPlace(): InspectorPlace {
  const place = useContext(InspectorContext);
  if (!place) throw new Error("There is no InspectorProvider above this component.");
  return place;
}

/** Shows its children in the column beside the page, for as long as it is mounted. */
export function InspectorSlot({ children }: { children: ReactNode }) {
  const { host, claim } = useInspectorPlace();
  useLayoutEffect(claim, [claim]);
  return host ? createPortal(children, host) : null;
}
