const page = (title: string, body: string) =>
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${title}</title></head>\n<body>\n${body}\n</body>\n</html>\n`;

/** From chapter 1 of the novel of 1851. */
export const htmlPage = page(
  "Moby-Dick",
  `<h1>Herman Melville - Moby-Dick</h1>
<p>Call me Ishmael. Some years ago—never mind how long precisely—having little or no money in my purse, and nothing particular
to interest me on shore, I thought I would sail about a little and see the watery part of the world. It is a way I have of driving
off the spleen and regulating the circulation. Whenever I find myself growing grim about the mouth; whenever it is a damp, drizzly
November in my soul; whenever I find myself involuntarily pausing before coffin warehouses, and bringing up the rear of every funeral
I meet; then, I account it high time to get to sea as soon as I can.</p>`,
);

export const utf8Page = page(
  "UTF-8",
  `<h1>Unicode as UTF-8</h1>
<pre>
Mathematics  ∮ E⋅da = Q,  n → ∞, ∑ f(i) = ∏ g(i), ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋
Greek        Ζαφείρι δέξου πάγκαλο, βαθῶν ψυχῆς τὸ σῆμα
Russian      Съешь же ещё этих мягких французских булок
Hebrew       דג סקרן שט בים מאוכזב ולפתע מצא חברה
Arabic       نص حكيم له سر قاطع وذو شأن عظيم
Hindi        ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण
Thai         เป็นมนุษย์สุดประเสริฐเลิศคุณค่า
Chinese      天地玄黃 宇宙洪荒
Japanese     いろはにほへと ちりぬるを
Korean       키스의 고유조건은 입술끼리 만나야 하고
Boxes        ┌─┬─┐ ╔═╦═╗ ▁▂▃▄▅▆▇█
Emoji        🎬 🏗️ 👩🏽‍🔧 🇺🇳
</pre>`,
);

export const formPage = page(
  "Order",
  `<form method="post" action="/post">
<p><label>Name <input name="custname"></label></p>
<p><label>Telephone <input type="tel" name="custtel"></label></p>
<p><label>E-mail <input type="email" name="custemail"></label></p>
<fieldset><legend>Size</legend>
<label><input type="radio" name="size" value="small"> Small</label>
<label><input type="radio" name="size" value="medium"> Medium</label>
<label><input type="radio" name="size" value="large"> Large</label>
</fieldset>
<fieldset><legend>Toppings</legend>
<label><input type="checkbox" name="topping" value="cheese"> Cheese</label>
<label><input type="checkbox" name="topping" value="onion"> Onion</label>
<label><input type="checkbox" name="topping" value="mushroom"> Mushroom</label>
</fieldset>
<p><label>When <input type="time" name="delivery" min="11:00" max="21:00" step="900"></label></p>
<p><label>Instructions <textarea name="comments"></textarea></label></p>
<p><button>Send</button></p>
</form>`,
);

/** The same document as JSON and as XML. */
export const sampleSlides = {
  slideshow: {
    author: "Yours Truly",
    date: "date of publication",
    slides: [
      { title: "Wake up to WonderWidgets!", type: "all" },
      { items: ["Why <em>WonderWidgets</em> are great", "Who <em>buys</em> WonderWidgets"], title: "Overview", type: "all" },
    ],
    title: "Sample Slide Show",
  },
};

export const sampleXml = `<?xml version='1.0' encoding='us-ascii'?>
<!-- A sample set of slides -->
<slideshow title="Sample Slide Show" date="date of publication" author="Yours Truly">
  <slide type="all">
    <title>Wake up to WonderWidgets!</title>
  </slide>
  <slide type="all">
    <title>Overview</title>
    <item>Why <em>WonderWidgets</em> are great</item>
    <item/>
    <item>Who <em>buys</em> WonderWidgets</item>
  </slide>
</slideshow>
`;

export const robotsText = "User-agent: *\nDisallow: /deny\n";

export const angryFace = `
          .-''''''-.
        .' _      _ '.
       /   O      O   \\
      :                :
      |                |
      :       __       :
       \\  .-"\`  \`"-.  /
        '.          .'
          '-......-'
     YOU SHOULDN'T BE HERE
`;
