/** Characters that are looked at in one step, and as how many an item counts besides. */
const charactersOfStep = 64 << 10;
const charactersOfItem = 100;

/** Of work for the page that looks at many items: a step is some of them, or a few long ones. */
export class LookSteps {
  private looked = 0;

  /** Asked for each item, with how many of its characters are looked at. */
  isOver(characters: number): boolean {
    this.looked += charactersOfItem + characters;
    if (this.looked < charactersOfStep) return false;
    this.looked = 0;
    return true;
  }
}
