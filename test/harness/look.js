// What of the page is not as it should look: lines of text, none where all is well. Run in the page (test/harness/looks.py).
(isPrint => {
  const faults = new Set(), root = document.documentElement, width = root.clientWidth;
  const name = node => {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const text = (node.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 40);
    const kind = element.getAttribute('class') || element.closest('[class]')?.getAttribute('class') || '';
    return `${element.localName}${kind && '.' + kind} "${text}"`;
  };
  const parse = text => {
    const found = /rgba?\(([^)]*)\)/.exec(text);
    const parts = found ? found[1].split(/[ ,/]+/).map(Number) : [0, 0, 0, 0];
    return {rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1};
  };
  const luminance = rgb => rgb.map(part => part / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  // Every color that may lie under an element: a gradient has several.
  const behind = element => {
    const found = [];
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      for (const color of style.backgroundImage.match(/rgba?\([^)]*\)/g) || []) if (parse(color).alpha > 0.5) found.push(parse(color).rgb);
      const color = parse(style.backgroundColor);
      if (color.alpha > 0.5) return [...found, color.rgb];
    }
    return [...found, parse(getComputedStyle(root).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches
      ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)').rgb];
  };
  // Of words: blanks may hang beside the line that they end.
  const rects = node => [...node.textContent.matchAll(/\S+/g)].flatMap(word => {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return [...range.getClientRects()].filter(rect => rect.width > 0.5 && rect.height > 0.5);
  });
  const isSeen = element => element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && !element.closest('script, style, title, clipPath');

  if (root.scrollWidth > width + 1) faults.add(`the page is ${root.scrollWidth} wide, and its window ${width}`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !isSeen(element)) continue;
    const style = getComputedStyle(element), isSvg = element.ownerSVGElement !== null && element.ownerSVGElement !== undefined;
    const boxes = rects(node);
    if (!boxes.length) continue;
    // Text that something cuts off. What scrolls on a screen is seen there; paper does not scroll.
    let scrolls = false;
    for (let at = isSvg ? element.ownerSVGElement : element; at && at !== document.body; at = at.parentElement) {
      const of = getComputedStyle(at), hides = word => word === 'hidden' || word === 'clip', moves = word => word === 'auto' || word === 'scroll';
      const box = at.getBoundingClientRect();
      const cutsX = hides(of.overflowX) || (isPrint && moves(of.overflowX)), cutsY = hides(of.overflowY) || (isPrint && moves(of.overflowY));
      for (const rect of boxes) {
        if (cutsX && !scrolls && (rect.right > box.right + 1 || rect.left < box.left - 1)) faults.add(`text is cut off at the side: ${name(node)}`);
        if (cutsY && !scrolls && (rect.bottom > box.bottom + 1 || rect.top < box.top - 1)) faults.add(`text is cut off above or below: ${name(node)}`);
      }
      scrolls ||= !isPrint && (moves(of.overflowX) || moves(of.overflowY));
    }
    const cell = element.closest('td, th, button, dd, dt');
    for (const rect of boxes) {
      if (!scrolls && (rect.right > width + 1 || rect.left < -1)) faults.add(`text is beside the page: ${name(node)}`);
      if (cell && !isSvg) {
        const box = cell.getBoundingClientRect();
        if (rect.right > box.right + 1.5 || rect.left < box.left - 1.5) faults.add(`text leaves its cell: ${name(node)}`);
      }
    }
    const size = parseFloat(style.fontSize) * (isSvg ? element.getScreenCTM().a : 1);
    if (size < (isPrint ? 8 : 10)) faults.add(`text of ${size.toFixed(1)} pixels: ${name(node)}`);
    const isLarge = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const color = parse(isSvg ? style.fill : style.color).rgb;
    for (const back of behind(isSvg ? element.ownerSVGElement : element)) {
      const ratio = contrast(color, back);
      if (ratio < (isLarge ? 3 : 4.5)) faults.add(`contrast ${ratio.toFixed(2)} of rgb(${color}) on rgb(${back}): ${name(node)}`);
    }
  }
  for (const svg of document.querySelectorAll('svg')) {
    if (!isSeen(svg)) continue;
    const box = svg.getBoundingClientRect();
    if (box.width < 100 || box.height < 60) faults.add(`a chart of ${Math.round(box.width)} x ${Math.round(box.height)} pixels`);
    const texts = [...svg.querySelectorAll('text')].filter(isSeen);
    for (const shape of svg.querySelectorAll('text, path, circle, rect, line')) {
      const own = shape.getBoundingClientRect();
      if (shape.closest('clipPath, [clip-path]') || !isSeen(shape)) continue;
      if (own.left < box.left - 1.5 || own.right > box.right + 1.5 || own.top < box.top - 1.5 || own.bottom > box.bottom + 1.5)
        faults.add(`leaves its chart: ${name(shape)}`);
    }
    for (const shape of svg.querySelectorAll('path.line, circle')) {
      const style = getComputedStyle(shape), color = parse(style.stroke !== 'none' ? style.stroke : style.fill).rgb;
      for (const back of behind(svg)) {
        const ratio = contrast(color, back);
        if (ratio < 3) faults.add(`contrast ${ratio.toFixed(2)} of a line, rgb(${color}) on rgb(${back})`);
      }
    }
    texts.forEach((one, i) => texts.slice(i + 1).forEach(other => {
      const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3) faults.add(`texts lie on one another: ${name(one)} and ${name(other)}`);
    }));
  }
  return [...faults];
})
