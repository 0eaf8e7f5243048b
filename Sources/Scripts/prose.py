#!/usr/bin/env python3
"""Checks the wording of comments, pages and test names against Sources/STYLE.md.

    prose.py [--list] [PATH...]

Prints, for each kind of text, how many blocks have an opening or a word that is usually hard to read, and the share that is allowed. --list
prints the blocks. Without paths it reads the whole repository. Exits 1 if a share is above its limit.

The check finds typical mistakes only. A block that passes can still be hard to read, and a few findings are fine as they are.
"""
import os
import re
import sys

# The percentage of blocks with a finding that is allowed. Lower a limit when the text has become better; never raise it.
LIMITS = {'comment': 2, 'page': 1, 'test name': 2}

# The reason, and what it looks like. Openings apply to the first words of a block.
FINDINGS = [
    ('opens with a relative clause: name the subject', r'^(What|Who|Whom|Whose|Whoever|Whatever|Where|How much|How many)\b(?![^.]*[?,])'),
    ('opens with "Of", "Those" or "That of": name the subject', r'^(Of|Those|That of|Besides?)\b'),
    ('has no subject: repeat the noun', r'(^|\. )(The same|As above|As before|Until then|Those, too|Neither|Nor)\b[^.]{0,40}\.'),
    ('says "who" for a peer, client or user', r'(^|[.;:,] |\b(?:of|by|for|to|and|if|than|from|with) )(who|whoever|whom) \w+'),
    ('says "somebody" or "nobody": name the user, peer or thing', r'\b(somebody|nobody|anybody|everybody)\b(?! else)'),
    ('says "told" or "heard": notifies, receives, sends, reports', r'\b(?:is|are|was|were|be|been) (?:told|heard|said)\b|\b(?:tells|hears) (?:of|from|it|them|that)\b'),
    ('has an amount without a number or unit', r'\b(?:so|as) (?:much|long|many|often|soon)\b(?! as)'),
    ('inverts subject and verb', r'(?:^|[.;:] )(?:So|Nor|Neither|Hardly|Rarely) (?:is|are|does|do|has|have|was|were|can|may|must)\b'),
    ('uses an archaic word', r'\b(?:anew|forsaken|notwithstanding|therein|thereof|lets? go of|goes on|went on|is away|are away|let down|betimes)\b'),
    ('ends with a possessive', r"\b(?:is|are|was|were) (?:its|theirs|hers|his|others'|nobody's|somebody's|\w+s')[.,;]"),
]
COMPILED = [(reason, re.compile(pattern, re.IGNORECASE if not pattern.startswith('^') else 0)) for reason, pattern in FINDINGS]

# How a comment begins, by the file's extension.
COMMENTS = {'.swift': r'\s*///?', '.sql': r'\s*--', '.js': r'\s*(?://|/?\*+)', '.c': r'\s*(?://|/?\*)', '.h': r'\s*(?://|/?\*)',
            '.sh': r'\s*#', '.py': r'\s*#', 'Makefile': r'\s*#'}
TEST_NAME = re.compile(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"')


def files(paths):
    """Yields the files below the paths, except hidden folders other than .github, and the fuzzers' inputs."""
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, folders, names in os.walk(os.path.normpath(path)):
            folders[:] = sorted(name for name in folders if name not in ('Corpora', 'node_modules') and (name[0] != '.' or name == '.github'))
            yield from (os.path.join(folder, name) for name in sorted(names))


def page_blocks(lines):
    """Yields the number of the first line and the text of each paragraph outside blocks of code."""
    paragraph, start, in_code = [], 0, False
    for number, line in enumerate(lines + [''], 1):
        if line.startswith('```'):
            in_code = not in_code
        ends = in_code or not line.strip() or line.startswith(('#', '|', '```'))
        if ends and paragraph:
            yield start, ' '.join(paragraph)
            paragraph = []
        if in_code or line.startswith(('#', '|--', '```')):
            continue
        if line.startswith('|'):
            for cell in line.strip('|\n').split('|'):
                yield number, plain(cell)
        elif line.strip():
            start = start if paragraph else number
            paragraph.append(plain(line))


def plain(text):
    """Returns Markdown without links' targets and marks."""
    return re.sub(r'\]\([^)]*\)|[`*\[\]]', '', text).strip(' -')


def comment_blocks(lines, mark):
    """Yields the number of the first line and the text of each run of comment lines."""
    block, start = [], 0
    for number, line in enumerate(lines + [''], 1):
        match = mark.match(line)
        text = line[match.end():].strip() if match and not line.startswith('#!') else ''
        if text:
            start = start if block else number
            block.append(re.sub(r'^- (?:Parameters?|Returns|Throws)[^:]*: ?', '', text))
        elif block:
            yield start, ' '.join(block)
            block = []


def blocks(path, text):
    """Yields the kind, first line and text of each block of a file."""
    lines = text.splitlines()
    if path.endswith('.md'):
        yield from (('page', *block) for block in page_blocks(lines))
        return
    mark = COMMENTS.get(os.path.splitext(path)[1] or os.path.basename(path))
    if not mark:
        return
    yield from (('comment', *block) for block in comment_blocks(lines, re.compile(mark)))
    if path.endswith('.swift'):
        for match in TEST_NAME.finditer(text):
            yield 'test name', text.count('\n', 0, match.start()) + 1, match.group(1)


def main(arguments):
    lists = '--list' in arguments
    paths = [argument for argument in arguments if not argument.startswith('-')]
    counts = {kind: [0, 0] for kind in LIMITS}
    for path in files(paths or [os.path.join(os.path.dirname(__file__), '..', '..')]):
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
        for kind, number, block in blocks(path, text):
            counts[kind][0] += 1
            reason = next((reason for reason, pattern in COMPILED if pattern.search(block)), None)
            if reason:
                counts[kind][1] += 1
                if lists:
                    print(f'{path}:{number}: {reason}: {block[:120]}')
    failed = False
    for kind, (count, found) in counts.items():
        share = 100 * found / max(count, 1)
        failed = failed or share > LIMITS[kind]
        print(f'{kind}: {found} of {count} are hard to read ({share:.1f} %, allowed {LIMITS[kind]} %)')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
