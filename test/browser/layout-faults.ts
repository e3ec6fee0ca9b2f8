/**
 * What can be measured of a page's layout and is wrong: words that are cut, controls that cannot be reached, overlap or are too small to hit,
 * bars that wrap, regions that scroll sideways. For `page.evaluate`: it uses nothing outside of itself.
 */
export function layoutFaults(): string[] {
  /** WCAG 2.2, 2.5.8. */
  const leastTargetPx = 24;
  const slackPx = 1.5;
  const controls = "a[href], button, input, select, textarea, [role=tab], [role=menuitem], [role=option], [role=slider], [role=separator]";
  /** They may lie above the page. */
  const overlays = "[role=dialog], [role=menu], [role=listbox], [role=tooltip], aside, .mantine-Notifications-root, [role=columnheader]";
  const faults = new Set<string>();

  interface Box {
    left: number;
    top: number;
    right: number;
    bottom: number;
  }
  const boxOf = (element: Element): Box => element.getBoundingClientRect();
  const intersection = (one: Box, other: Box): Box => ({
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  });
  const hasArea = (box: Box) => box.right - box.left > slackPx && box.bottom - box.top > slackPx;

  const isShown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true }) &&
    !element.closest("[inert], .visually-hidden, [data-words]");
  const shortText = (text: string) => {
    const line = text.replace(/\s+/g, " ").trim();
    return line.length > 40 ? `${line.slice(0, 40)}…` : line;
  };
  const nameOf = (element: Element) => {
    const tag = element.getAttribute("role") ?? element.tagName.toLowerCase();
    const words = element.getAttribute("aria-label") ?? element.textContent ?? "";
    return `${tag} "${shortText(words || element.getAttribute("placeholder") || "")}"`;
  };

  /** The ancestors that can clip: of what is positioned only those from its containing block on. */
  const clippersOf = (element: Element): Element[] => {
    const clippers: Element[] = [];
    let position = getComputedStyle(element).position;
    for (let up = element.parentElement; up && up !== document.documentElement && position !== "fixed"; up = up.parentElement) {
      const style = getComputedStyle(up);
      const contains = style.position !== "static" || style.transform !== "none" || style.contain !== "none";
      if (position === "absolute" && !contains) continue;
      clippers.push(up);
      position = style.position;
    }
    return clippers;
  };

  interface Visible {
    /** What can be seen of the box now. */
    readonly box: Box;
    /** The first ancestor that hides a part of it which no scrolling shows. */
    readonly cutX: Element | undefined;
    readonly cutY: Element | undefined;
    readonly isScrolled: boolean;
  }
  const visibleOf = (element: Element, whole: Box, isText: boolean): Visible => {
    let box = whole;
    let cutX: Element | undefined;
    let cutY: Element | undefined;
    let isScrolled = false;
    for (const clipper of [...(isText ? [element] : []), ...clippersOf(element)]) {
      const { overflowX, overflowY } = getComputedStyle(clipper);
      if (overflowX === "visible" && overflowY === "visible") continue;
      const edge = boxOf(clipper);
      if (overflowX !== "visible" && (box.left < edge.left - slackPx || box.right > edge.right + slackPx)) {
        if (overflowX === "hidden" || overflowX === "clip") cutX ??= clipper;
        else isScrolled = true;
      }
      if (overflowY !== "visible" && (box.top < edge.top - slackPx || box.bottom > edge.bottom + slackPx)) {
        if (overflowY === "hidden" || overflowY === "clip") cutY ??= clipper;
        else isScrolled = true;
      }
      box = intersection(box, {
        left: overflowX === "visible" ? box.left : edge.left,
        right: overflowX === "visible" ? box.right : edge.right,
        top: overflowY === "visible" ? box.top : edge.top,
        bottom: overflowY === "visible" ? box.bottom : edge.bottom,
      });
    }
    return { box, cutX, cutY, isScrolled };
  };

  const modal = [...document.querySelectorAll("[role=dialog][aria-modal=true]")].filter(isShown).at(-1);
  const isBehindModal = (element: Element) => modal !== undefined && !modal.contains(element);
  const overlayOf = (element: Element) => element.closest(overlays);

  // Words.
  interface Words {
    readonly element: Element;
    readonly text: string;
    readonly box: Box;
  }
  const seen: Words[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent ?? "";
    if (!element || text.trim() === "" || !isShown(element) || isBehindModal(element)) continue;
    if (element.closest("script, style, .cm-editor, svg, .u-axis, noscript")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      if (!hasArea(line)) continue;
      const { box, cutX, cutY } = visibleOf(element, line, true);
      // For screen readers only.
      if (cutX && boxOf(cutX).right - boxOf(cutX).left <= slackPx) continue;
      if (cutX && hasArea(box)) {
        const ends = getComputedStyle(cutX).textOverflow === "ellipsis";
        const control = element.closest("button, th, [role=columnheader], [role=tab], label, h1, legend, [role=radio]");
        if (!ends) faults.add(`cut: "${shortText(text)}" in ${nameOf(cutX)}`);
        // A row opens what its cells cut.
        else if (!element.closest("[title], [role=gridcell], li")) {
          faults.add(control ? `shortened: ${nameOf(control)}` : `shortened without a title: "${shortText(text)}"`);
        }
      }
      const isClamped = getComputedStyle(cutY ?? element).webkitLineClamp !== "none";
      if (cutY && !isClamped && hasArea(box) && box.bottom - box.top < line.height - 4) faults.add(`cut in height: "${shortText(text)}"`);
      if (hasArea(box)) seen.push({ element, text, box });
    }
  }
  for (const [index, one] of seen.entries()) {
    for (const other of seen.slice(index + 1)) {
      if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue;
      if (overlayOf(one.element) !== overlayOf(other.element)) continue;
      const shared = intersection(one.box, other.box);
      if (shared.right - shared.left > 2 && shared.bottom - shared.top > 4) {
        faults.add(`words overlap: "${shortText(one.text)}" and "${shortText(other.text)}"`);
      }
    }
  }

  // Placeholders and chosen values.
  const pen = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  for (const input of document.querySelectorAll("input")) {
    if (!isShown(input) || isBehindModal(input) || ["checkbox", "radio", "file", "hidden"].includes(input.type)) continue;
    const style = getComputedStyle(input);
    pen.font = style.font;
    const roomPx = input.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    const isChoice = input.readOnly || input.getAttribute("aria-haspopup") === "listbox" || input.inputMode === "numeric";
    const text = input.value === "" ? input.placeholder : isChoice ? input.value : "";
    if (pen.measureText(text).width > roomPx + slackPx) faults.add(`field cuts "${shortText(text)}"`);
  }

  // Controls.
  const targets: { readonly element: Element; readonly box: Box }[] = [];
  for (const element of document.querySelectorAll(controls)) {
    // Keys do the same as the buttons within a field of numbers.
    if (!isShown(element) || isBehindModal(element) || element.matches("[aria-hidden=true]")) continue;
    const isTick = element instanceof HTMLInputElement && ["checkbox", "radio"].includes(element.type);
    const label = isTick ? element.labels?.[0] : undefined;
    const own = boxOf(element);
    const box: Box = label
      ? {
          left: Math.min(own.left, boxOf(label).left),
          top: Math.min(own.top, boxOf(label).top),
          right: Math.max(own.right, boxOf(label).right),
          bottom: Math.max(own.bottom, boxOf(label).bottom),
        }
      : own;
    if (!hasArea(box) || (element instanceof HTMLInputElement && element.type === "file")) continue;
    const visible = visibleOf(element, box, false);
    const isOfList = element.closest("[role=row]:not(:has([role=columnheader])), [role=treeitem]") !== null;
    if ((visible.cutX || visible.cutY) && !isOfList) faults.add(`control is cut: ${nameOf(element)}`);
    else if (
      !visible.isScrolled &&
      (box.left < -slackPx || box.top < -slackPx || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
    ) {
      faults.add(`control outside of the window: ${nameOf(element)}`);
    }
    if (!hasArea(visible.box)) continue;
    targets.push({ element, box });
    const at = { x: (visible.box.left + visible.box.right) / 2, y: (visible.box.top + visible.box.bottom) / 2 };
    const hit = document.elementFromPoint(at.x, at.y);
    const isHit =
      hit && (element.contains(hit) || hit.contains(element) || label?.contains(hit) || hit.closest("label")?.control === element);
    // What scrolls may lie below the edge of the drawer.
    if (hit && !isHit && !hit.closest("[role=separator]") && !(overlayOf(hit) && !overlayOf(hit)?.contains(element))) {
      faults.add(`control is covered: ${nameOf(element)} by ${nameOf(hit)}`);
    }
  }
  for (const { element, box } of targets) {
    const width = box.right - box.left;
    const height = box.bottom - box.top;
    if (Math.min(width, height) >= leastTargetPx - 0.5) continue;
    // Exceptions: links within a sentence, and handles at edges, which have keys.
    if (getComputedStyle(element).display === "inline" || element.matches("[role=separator], [role=slider]")) continue;
    const at = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    const reach = { left: at.x - 12, right: at.x + 12, top: at.y - 12, bottom: at.y + 12 };
    const neighbour = targets.find(
      (other) =>
        other.element !== element &&
        other.element.closest("[role=menu]") === element.closest("[role=menu]") &&
        !other.element.contains(element) &&
        !element.contains(other.element) &&
        hasArea(intersection(reach, other.box)),
    );
    if (neighbour) {
      faults.add(`target of ${Math.round(width)} x ${Math.round(height)}: ${nameOf(element)} beside ${nameOf(neighbour.element)}`);
    }
  }

  // Bars.
  for (const bar of document.querySelectorAll("[role=toolbar]")) {
    if (!isShown(bar) || isBehindModal(bar)) continue;
    const lines: Box[] = [];
    for (const child of bar.querySelectorAll(":scope > *, :scope > [class*=tools] > *, :scope > [class*=scopes] > *")) {
      const box = boxOf(child);
      if (!hasArea(box) || !isShown(child) || getComputedStyle(child).position === "absolute") continue;
      if (box.bottom - box.top > 40) continue;
      if (!lines.some((line) => box.top < line.bottom - 4 && box.bottom > line.top + 4)) lines.push(box);
    }
    if (lines.length > 1) faults.add(`bar of ${lines.length} lines: ${bar.getAttribute("aria-label")}`);
  }

  // Scrolling sideways.
  for (const element of document.querySelectorAll("*")) {
    if (element.scrollWidth <= element.clientWidth + 1 || element.clientWidth === 0 || !isShown(element) || isBehindModal(element))
      continue;
    const { overflowX } = getComputedStyle(element);
    const isRoot = element === document.documentElement || element === document.body;
    const maySo = element.closest(".cm-editor, pre, code, [role=tablist], textarea, input, [aria-label^=Pictures]") !== null;
    if (isRoot || ((overflowX === "auto" || overflowX === "scroll") && !maySo)) {
      faults.add(`scrolls sideways by ${element.scrollWidth - element.clientWidth} px: ${nameOf(element)}`);
    }
  }
  return [...faults];
}
