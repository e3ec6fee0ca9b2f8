import { useEffect, useEffectEvent, useRef, useState } from "react";

/**
 * What `next` makes of each value of a view and of its own result before, such as rates. It begins anew after its page was left: the
 * values of that time are missing, and a rate across the gap would not be that of the last second.
 */
export function useSuccessive<Value extends object, Result>(
  value: Value | undefined,
  next: (known: Result | undefined, value: Value) => Result,
): Result | undefined {
  const [result, setResult] = useState<Result>();
  const known = useRef<{ readonly seen?: Value | undefined; readonly result?: Result }>({});
  const onValue = useEffectEvent((newest: Value) => {
    known.current = { seen: newest, result: next(known.current.result, newest) };
    setResult(known.current.result);
  });
  useEffect(() => {
    // A page that is shown again has the value that it had when it was left.
    if (value !== undefined && value !== known.current.seen) onValue(value);
  }, [value]);
  useEffect(
    () => () => {
      known.current = { seen: known.current.seen };
      setResult(undefined);
    },
    [],
  );
  return result;
}
