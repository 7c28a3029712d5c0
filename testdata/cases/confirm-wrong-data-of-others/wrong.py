import json, sys
facts = json.load(sys.stdin)
for row in facts["measured"]:
    if "%d%d" % (row["from"], row["to"]) in sys.argv[1:]:
        row["wrong_words"] = 7
json.dump(facts, sys.stdout)
