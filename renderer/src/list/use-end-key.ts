import { useEffect, useEffectEvent, useRef, useState } from "react";

/**
 * The End key of a list that loads its rows as it is scrolled: `goToEnd` loads the others, and `onLoaded` is called when they are there,
 * unless the user has gone elsewhere (`leaveEnd`), or the list is no longer shown.
 */
export function useEndKey(loadAll: ((isWanted: () => boolean) => Promise<void>) | undefined, onLoaded: () => void) {
  const asked = useRef(0);
  /** The key whose rows are there: set together with them, so that the list has them when `onLoaded` is called. */
  const [loaded, setLoaded] = useState(0);
  const tell = useEffectEvent(onLoaded);
  useEffect(() => {
    if (loaded > 0) tell();
  }, [loaded]);
  const leaveEnd = () => void asked.current++;
  useEffect(() => () => void asked.current++, []);
  const goToEnd = async () => {
    const mine = ++asked.current;
    const isWanted = () => asked.current === mine;
    await loadAll?.(isWanted);
    if (isWanted() && loadAll) setLoaded(mine);
  };
  return { goToEnd, leaveEnd };
}
