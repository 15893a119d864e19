// A neighbour with the name of one in `modules`.

exports.place = "beside the script";
exports.text = open("./name.txt");
